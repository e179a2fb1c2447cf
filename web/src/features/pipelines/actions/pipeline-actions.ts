/** What can be done to pipelines, from their list and from the page of one. */
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../../api/client.ts';
import { paths } from '../../../app/paths.ts';
import { isProduction, usePlace } from '../../../app/scope.tsx';
import { notify, notifyFailure } from '../../../ui/feedback/toast.tsx';
import { plural } from '../../../ui/text/format.ts';

export type ActionKind =
  | 'deploy'
  | 'undeploy'
  | 'hold'
  | 'clone'
  | 'promote'
  | 'copy'
  | 'move'
  | 'template'
  | 'delete';

export interface Action {
  kind: Exclude<ActionKind, 'clone'>;
  pipelines: readonly PipelineSummary[];
}

export interface Actions {
  /** The dialog that is open. */
  action: Action | null;
  close: () => void;
  start: (kind: ActionKind, pipelines: readonly PipelineSummary[]) => void;
}

/** `orders`, or `3 pipelines`. */
export const nameAll = (pipelines: readonly PipelineSummary[]): string =>
  pipelines.length === 1 ? (pipelines[0]?.name ?? '') : plural(pipelines.length, 'pipeline');

export function usePipelineActions(): Actions {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [action, setAction] = useState<Action | null>(null);
  return useMemo(() => {
    const clone = async (pipelines: readonly PipelineSummary[]): Promise<void> => {
      for (const { id, name } of pipelines) {
        try {
          const copy = await api.pipeline.clone.mutate({ pipelineId: id });
          const open = (): void => void navigate(paths.pipeline(environment.id, copy.id));
          notify(`${name} was cloned as ${copy.name}, a draft.`, { word: 'Open', run: open });
        } catch (error) {
          notifyFailure(`${name} was not cloned`, error);
        }
      }
      await queryClient.invalidateQueries({ queryKey: ['pipeline.list', environment.id] });
    };
    return {
      action,
      close: () => setAction(null),
      start: (kind, pipelines) => {
        const [first] = pipelines;
        if (kind === 'clone') void clone(pipelines);
        // The address of its page holds what is chosen, so that a link can be sent.
        else if (kind === 'promote' && first) {
          void navigate(paths.pipeline(environment.id, first.id, { promote: '1' }));
        } else setAction({ kind, pipelines });
      },
    };
  }, [action, environment.id, navigate, queryClient]);
}

/** Reads lists and pages of pipelines again after a change. */
export function useRenewPipelines(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' &&
        /^(pipeline|deploy|stagedRollout|pipelineGroup|pipelineDependency)\./.test(name),
    });
}

/** What must be typed in production: the name of the only pipeline, of several that of the environment. */
export const confirmation = (
  environment: { name: string },
  pipelines: readonly { name: string }[],
): string | null => {
  if (!isProduction(environment)) return null;
  return pipelines.length === 1 ? (pipelines[0]?.name ?? null) : environment.name;
};
