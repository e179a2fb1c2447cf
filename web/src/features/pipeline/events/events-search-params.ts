import { IN_PLACE, putParam, useAddress } from '../../../app/search-params.ts';

export const EVENT_VIEWS = [
  { value: 'samples', word: 'Samples' },
  { value: 'live', word: 'Live' },
  { value: 'fields', word: 'Fields' },
] as const;
export type EventView = (typeof EVENT_VIEWS)[number]['value'];

const MAX_TEXT = 200;

/** What is looked at, as the address holds it. */
export interface EventsAddress {
  view: EventView;
  /** A component's key, with `.port` for a named output; empty for the first there is. */
  component: string;
  /** Another one, shown beside it; empty for none. */
  beside: string;
  /** Empty for any node that runs it. */
  node: string;
  /** Of the samples that are shown; empty for none. */
  request: string;
  text: string;
}

export function useEventsAddress(): [EventsAddress, (change: Partial<EventsAddress>) => void] {
  const [params, changeAddress] = useAddress();
  const address: EventsAddress = {
    view: EVENT_VIEWS.find(({ value }) => value === params.get('view'))?.value ?? 'samples',
    component: params.get('component') ?? '',
    beside: params.get('beside') ?? '',
    node: params.get('node') ?? '',
    request: params.get('request') ?? '',
    text: (params.get('text') ?? '').slice(0, MAX_TEXT),
  };
  const change = (wanted: Partial<EventsAddress>): void =>
    changeAddress((next) => {
      for (const [key, value] of Object.entries(wanted))
        putParam(next, key, key === 'view' && value === 'samples' ? '' : value);
    }, IN_PLACE);
  return [address, change];
}
