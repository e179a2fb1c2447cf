/** Counts nodes by health and pipelines by state. Pure. */
import type { NodeCounts, PipelineCounts, PipelineState } from '../../../schemas/api/insight/dashboard.ts';
import type { NodeStatus, PipelineStatus } from '../../fleet/status/index.ts';

export function countNodes(nodes: readonly NodeStatus[]): NodeCounts {
  const of = (health: NodeStatus['health']) => nodes.filter((node) => node.health === health).length;
  return {
    total: nodes.length,
    healthy: of('HEALTHY'),
    degraded: of('DEGRADED'),
    unreachable: of('UNREACHABLE'),
    unknown: of('UNKNOWN'),
    maintenance: nodes.filter(({ node }) => node.maintenance).length,
  };
}

export function countPipelines(pipelines: readonly PipelineStatus[]): PipelineCounts {
  const counts = { total: 0, draft: 0, crashed: 0, idle: 0, running: 0, stopped: 0, held: 0, moving: 0 };
  for (const status of pipelines) {
    counts.total += 1;
    counts[stateOf(status)] += 1;
  }
  return counts;
}

export function stateOf({ pipeline, counts, gate }: PipelineStatus): PipelineState {
  if (pipeline.isDraft) return 'draft';
  if (counts.crashed > 0) return 'crashed';
  if (counts.total === 0) return 'idle';
  if (counts.running === counts.total) return 'running';
  if (counts.stopped > 0) return 'stopped';
  // The gate knows whether the remaining nodes are being updated or are unreachable.
  return gate.some(({ point, state }) => state === 'held' && (point === 'delivered' || point === 'running'))
    ? 'held'
    : 'moving';
}
