import { formatRate } from '../../../ui/text/format.ts';
import { MAX_EVENTS, rateOf, type TapBuffer } from './tap-buffer.ts';

/** What a tap has brought so far. `rate` is what it is measured by while it goes on: the time now and that of its start. */
export function figuresText(buffer: TapBuffer, rate: { now: number; startedAt: number } | null): string {
  const { seen, dropped, events } = buffer;
  return [
    ...(rate ? [formatRate(rateOf(buffer, rate.now, rate.startedAt))] : []),
    `${seen.toLocaleString('en')} seen`,
    ...(dropped > 0 ? [`${dropped.toLocaleString('en')} left out`] : []),
    ...(events.length >= MAX_EVENTS ? [`the newest ${MAX_EVENTS} are kept`] : []),
  ].join(' · ');
}
