/** What can be done to nodes, from their list and from the page of one. */
import { useQueryClient } from '@tanstack/react-query';
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import type { IconName } from '../../../ui/primitives/icons.tsx';
import { plural } from '../../../ui/text/format.ts';

export type NodeActionKind =
  | 'maintain'
  | 'release'
  | 'update'
  | 'delete'
  | 'rename'
  | 'labels'
  | 'restart'
  | 'revoke';

export interface NodeAction {
  kind: NodeActionKind;
  nodes: readonly NodeSummary[];
}

export type StartNodeAction = (kind: NodeActionKind, nodes: readonly NodeSummary[]) => void;

interface Described {
  word: string;
  icon: IconName;
  needs: 'EDITOR' | 'ADMIN';
}

export const NODE_ACTIONS: Record<NodeActionKind, Described> = {
  maintain: { word: 'Put into maintenance', icon: 'held', needs: 'EDITOR' },
  release: { word: 'End maintenance', icon: 'moving', needs: 'EDITOR' },
  update: { word: 'Update the agent', icon: 'deploy', needs: 'ADMIN' },
  delete: { word: 'Delete', icon: 'trash', needs: 'EDITOR' },
  rename: { word: 'Rename', icon: 'pencil', needs: 'EDITOR' },
  labels: { word: 'Edit labels', icon: 'pencil', needs: 'EDITOR' },
  restart: { word: 'Restart the agent', icon: 'sync', needs: 'ADMIN' },
  revoke: { word: 'Revoke its token', icon: 'shield', needs: 'ADMIN' },
};

/** `edge-1`, or `3 nodes`. */
export const nameNodes = (nodes: readonly { name: string }[]): string =>
  nodes.length === 1 ? (nodes[0]?.name ?? '') : plural(nodes.length, 'node');

/** `12 processes on 9 nodes`; null where nothing runs. A crashed engine is started again and again, so it counts. */
export function processesOn(nodes: readonly NodeSummary[]): string | null {
  const counts = nodes.map(({ pipelinesRunning, pipelinesCrashed }) => pipelinesRunning + pipelinesCrashed);
  const processes = counts.reduce((sum, count) => sum + count, 0);
  if (processes === 0) return null;
  const places = counts.filter((count) => count > 0).length;
  return `${plural(processes, 'process', 'processes')} on ${plural(places, 'node')}`;
}

/** Reads everything about nodes again after a change. */
export function useRenewFleet(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => typeof name === 'string' && /^(fleet|nodeGroup)\./.test(name),
    });
}
