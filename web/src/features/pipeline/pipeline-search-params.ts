/** What the address of a pipeline's page holds. */
import { useMemo } from 'react';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { IN_PLACE, putParam, useAddress } from '../../app/search-params.ts';
import { type Actions, usePipelineActions } from '../pipelines/actions/pipeline-actions.ts';

/** The component that is looked at, as the address holds it; empty for none. What was shown of another goes. */
export function useComponent(): [string, (component: string) => void] {
  const [params, change] = useAddress();
  const set = (component: string): void =>
    change((next) => {
      for (const key of ['beside', 'request']) next.delete(key);
      putParam(next, 'component', component);
    }, IN_PLACE);
  return [params.get('component') ?? '', set];
}

/** The dialogs that the address may ask for, so that other pages and links lead to them. */
const IN_ADDRESS = ['deploy', 'promote'] as const;

export function useActionsOf(pipeline: Pipeline): Actions {
  const [params, changeAddress] = useAddress();
  const { action, close, start } = usePipelineActions();
  const asked = IN_ADDRESS.find((kind) => params.has(kind)) ?? null;
  return useMemo(() => {
    const forget = (): void => {
      close();
      if (!asked) return;
      changeAddress((next) => {
        for (const key of [...IN_ADDRESS, 'to']) next.delete(key);
      }, IN_PLACE);
    };
    const shown = action ?? (asked ? { kind: asked, pipelines: [pipeline] } : null);
    return {
      action: shown,
      close: forget,
      start: (kind, pipelines) =>
        kind === 'promote' ? changeAddress((next) => next.set(kind, '1'), IN_PLACE) : start(kind, pipelines),
    };
  }, [action, asked, changeAddress, close, pipeline, start]);
}
