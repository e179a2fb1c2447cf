import type { NodeWithPipelines } from '../../../../../schemas/api/fleet/fleet.ts';

/** Nothing runs yet, or no longer. */
const ENDED = ['PENDING', 'STOPPED'];

/** How many processes run some of the pipelines, and on how many nodes. */
export function processesOf(
  nodes: readonly NodeWithPipelines[],
  ids: ReadonlySet<string>,
): { processes: number; nodes: number } {
  const counts = nodes.map(
    ({ pipelines }) =>
      pipelines.filter(({ pipelineId, status }) => ids.has(pipelineId) && !ENDED.includes(status)).length,
  );
  return {
    processes: counts.reduce((sum, count) => sum + count, 0),
    nodes: counts.filter((count) => count > 0).length,
  };
}
