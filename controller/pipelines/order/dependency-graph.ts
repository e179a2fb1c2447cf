/** Who depends on whom in an environment, whichever of the two sources says it. Pure. */
import type { Dependency, OtherPipeline } from '../../../schemas/api/pipeline-order.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { OrderedPipeline, StoredDependency } from './dependency-store.ts';

export interface DependencyEdge {
  /** Null for one that a manifest says. */
  id: string | null;
  source: 'ui' | 'git';
  upstreamId: string;
  downstreamId: string;
}

export interface Dependencies {
  byId: ReadonlyMap<string, OrderedPipeline>;
  edges: readonly DependencyEdge[];
  /** Entries of a pipeline, by the name of what it depends on. */
  upstreamsOf(pipelineId: string): Dependency[];
  downstreamIdsOf(pipelineId: string): string[];
  /**
   * From one pipeline along those that depend on it to another, both ends included; null where no way leads there. A
   * dependency of the first on the last would close it to a circle.
   */
  wayDown(fromId: string, toId: string): string[] | null;
  /** All that depends on it, directly or not; itself too. */
  below(pipelineId: string): ReadonlySet<string>;
}

export function dependenciesOf(
  pipelines: readonly OrderedPipeline[],
  stored: readonly StoredDependency[],
): Dependencies {
  const byId = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const byName = new Map(pipelines.map((pipeline) => [nameKeyOf(pipeline.name), pipeline]));
  const entries = new Map<string, Dependency[]>();
  const edges: DependencyEdge[] = [];
  const downstream = new Map<string, Set<string>>();
  const note = (downstreamId: string, entry: Dependency): void => {
    const list = entries.get(downstreamId) ?? [];
    list.push(entry);
    entries.set(downstreamId, list);
    const { upstreamId } = entry;
    if (upstreamId === null) return;
    edges.push({ id: entry.id, source: entry.source, upstreamId, downstreamId });
    const known = downstream.get(upstreamId) ?? new Set();
    downstream.set(upstreamId, known.add(downstreamId));
  };
  for (const { id, upstreamId, downstreamId, description, createdAt } of stored) {
    const upstream = byId.get(upstreamId);
    // Either end may be deleted and kept for its day.
    if (upstream && byId.has(downstreamId))
      note(downstreamId, { ...entryOf(upstream), id, source: 'ui', description, createdAt });
  }
  for (const pipeline of pipelines) {
    for (const name of pipeline.dependsOn) {
      const upstream = byName.get(nameKeyOf(name));
      const said = { id: null, source: 'git', description: null, createdAt: null } as const;
      note(pipeline.id, {
        ...said,
        ...(upstream ? entryOf(upstream) : { upstreamId: null, upstreamName: name, upstreamIsDraft: true }),
      });
    }
  }

  /** Breadth first, so that the way is the shortest: each that is reached, with the one before it. */
  function reach(fromId: string): ReadonlyMap<string, string | null> {
    const before = new Map<string, string | null>([[fromId, null]]);
    for (const at of before.keys())
      for (const next of downstream.get(at) ?? []) if (!before.has(next)) before.set(next, at);
    return before;
  }

  return {
    byId,
    edges,
    upstreamsOf: (pipelineId) =>
      (entries.get(pipelineId) ?? []).toSorted((a, b) => a.upstreamName.localeCompare(b.upstreamName)),
    downstreamIdsOf: (pipelineId) => [...(downstream.get(pipelineId) ?? [])],
    wayDown(fromId, toId) {
      const before = reach(fromId);
      if (!before.has(toId)) return null;
      const way: string[] = [];
      for (let at: string | null = toId; at !== null; at = before.get(at) ?? null) way.unshift(at);
      return way;
    },
    below: (pipelineId) => new Set(reach(pipelineId).keys()),
  };
}

const entryOf = ({ id, name, isDraft }: OrderedPipeline) => ({
  upstreamId: id,
  upstreamName: name,
  upstreamIsDraft: isDraft,
});

export const otherPipeline = ({ id, name, isDraft }: OrderedPipeline): OtherPipeline => ({
  id,
  name,
  isDraft,
});
