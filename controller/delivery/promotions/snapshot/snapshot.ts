/** The content of a promotion. It is taken at the request and deployed as it is, even if the source changes meanwhile. */
import { createHash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { GraphEdge, GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { LogLevelName } from './stored-pipeline.ts';

/** For a target that git does not describe. Without literal credentials. */
export interface GraphSnapshot {
  form: 'graph';
  description: string | null;
  labels: Record<string, string>;
  logLevel: LogLevelName;
  /** Absent: not set. */
  drainSeconds?: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  /** Names of pipelines; the target depends on those that exist in its environment. */
  dependsOn: string[];
  /** The initial value for a new target; an existing one keeps its own. */
  nodeSelector: Record<string, string> | null;
  /** Pointers to removed credentials: `/out/auth/password` for the component `out`, `/global/…` for the global config. */
  stripped: string[];
}

/** Fields that belong to an environment: initial values of a new manifest. */
export interface LocalFields {
  nodeSelector?: unknown;
  values?: unknown;
  rollout?: unknown;
}

/** For a target that git describes: the promoted fields, in the form of a manifest. */
export interface ManifestSnapshot {
  form: 'manifest';
  labels: Record<string, string>;
  /**
   * `sources`, `transforms`, `sinks`, `components`, `global`, `logLevel`, `drainSeconds`, `tests`, `description`, `dependsOn`. Placeholders
   * are not replaced. A `$file` is a path from the root of the repository, with a leading `/`; a file that the target may not
   * read is replaced by its text.
   */
  spec: Record<string, unknown>;
  start: LocalFields;
}

export type Snapshot = GraphSnapshot | ManifestSnapshot;

/** Identifies the content: SHA-256, in hex. */
export const snapshotDigest = (snapshot: Snapshot): string =>
  createHash('sha256').update(stringify(snapshot)).digest('hex');
