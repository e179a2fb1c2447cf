/** The dependency graph of an environment, joined from both sources. Pure. */
import type { Dependency, OtherPipeline } from '../../../schemas/api/pipelines/pipeline-order.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { OrderedPipeline, StoredDependency } from './dependency-store.ts';

export interface DependencyEdge {
  /** Null for a dependency from a manifest. */
  id: string | null;
  source: 'ui' | 'git';
  upstreamId: string;
  downstreamId: string;
}

export interface Dependencies {
  byId: ReadonlyMap<string, OrderedPipeline>;
  edges: readonly DependencyEdge[];
  /** The dependencies of a pipeline, ordered by name. */
  upstreamsOf(pipelineId: string): Dependency[];
  downstreamIdsOf(pipelineId: string): string[];
  /**
   * The path from one pipeline along its dependents to another, including both; null if there is none. A dependency of the
   * first on the last would close a cycle.
   */
  pathDown(fromId: string, toId: string): string[] | null;
  /** The pipeline and all its direct and indirect dependents. */
  withDependents(pipelineId: string): ReadonlySet<string>;
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
  const addEntry = (downstreamId: string, entry: Dependency): void => {
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
    // Either end may be deleted and not purged yet.
    if (upstream && byId.has(downstreamId))
      addEntry(downstreamId, { ...entryOf(upstream), id, source: 'ui', description, createdAt });
  }
  for (const pipeline of pipelines) {
    for (const name of pipeline.dependsOn) {
      const upstream = byName.get(nameKeyOf(name));
      const manifestEntry = { id: null, source: 'git', description: null, createdAt: null } as const;
      addEntry(pipeline.id, {
        ...manifestEntry,
        ...(upstream ? entryOf(upstream) : { upstreamId: null, upstreamName: name, upstreamIsDraft: true }),
      });
    }
  }

  /** Breadth-first search for the shortest path: each reached pipeline with its predecessor. */
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
    pathDown(fromId, toId) {
      const before = reach(fromId);
      if (!before.has(toId)) return null;
      const path: string[] = [];
      for (let at: string | null = toId; at !== null; at = before.get(at) ?? null) path.unshift(at);
      return path;
    },
    withDependents: (pipelineId) => new Set(reach(pipelineId).keys()),
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
