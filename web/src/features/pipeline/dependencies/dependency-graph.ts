/** Parts of the dependencies of an environment. Pure. */
import type { DependencyGraph } from '../../../../../schemas/api/pipelines/pipeline-order.ts';

const only = (graph: DependencyGraph, ids: ReadonlySet<string>): DependencyGraph => ({
  nodes: graph.nodes.filter(({ id }) => ids.has(id)),
  edges: graph.edges.filter(({ upstreamId, downstreamId }) => ids.has(upstreamId) && ids.has(downstreamId)),
});

/** All that hangs together with one pipeline, in either direction. */
export function around(graph: DependencyGraph, id: string): DependencyGraph {
  const neighbours = new Map<string, string[]>();
  const note = (from: string, to: string): void => {
    const list = neighbours.get(from);
    if (list) list.push(to);
    else neighbours.set(from, [to]);
  };
  for (const { upstreamId, downstreamId } of graph.edges) {
    note(upstreamId, downstreamId);
    note(downstreamId, upstreamId);
  }
  const found = new Set([id]);
  // A set hands out what is added while it is walked.
  for (const each of found) for (const next of neighbours.get(each) ?? []) found.add(next);
  return only(graph, found);
}

/** Without those that neither depend nor are depended on. */
export const connected = (graph: DependencyGraph): DependencyGraph =>
  only(graph, new Set(graph.edges.flatMap(({ upstreamId, downstreamId }) => [upstreamId, downstreamId])));
