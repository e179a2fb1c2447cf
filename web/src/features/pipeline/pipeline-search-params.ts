/** What the address of a pipeline's page holds. */
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { type Actions, usePipelineActions } from '../pipelines/actions/pipeline-actions.ts';

/** The component that is looked at, as the address holds it; empty for none. What was shown of another goes. */
export function useComponent(): [string, (component: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = (component: string): void =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const key of ['component', 'beside', 'request']) next.delete(key);
        if (component) next.set('component', component);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  return [params.get('component') ?? '', set];
}

/** The dialogs that the address may ask for, so that other pages and links lead to them. */
const IN_ADDRESS = ['deploy', 'promote'] as const;

export function useActionsOf(pipeline: Pipeline): Actions {
  const [params, setParams] = useSearchParams();
  const { action, close, start } = usePipelineActions();
  const asked = IN_ADDRESS.find((kind) => params.has(kind)) ?? null;
  return useMemo(() => {
    const change = (edit: (next: URLSearchParams) => void): void =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          edit(next);
          return next;
        },
        { replace: true, preventScrollReset: true },
      );
    const forget = (): void => {
      close();
      if (!asked) return;
      change((next) => {
        for (const key of [...IN_ADDRESS, 'to']) next.delete(key);
      });
    };
    const shown = action ?? (asked ? { kind: asked, pipelines: [pipeline] } : null);
    return {
      action: shown,
      close: forget,
      start: (kind, pipelines) =>
        kind === 'promote' ? change((next) => next.set(kind, '1')) : start(kind, pipelines),
    };
  }, [action, asked, close, pipeline, setParams, start]);
}
