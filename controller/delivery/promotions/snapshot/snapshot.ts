/** What a promotion carries: taken when it is asked for, and what ships, however the source changes meanwhile. */
import { createHash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { GraphEdge, GraphNode } from '../../../../schemas/api/pipelines.ts';
import type { LogLevelName } from './stored-pipeline.ts';

/** For a target that git does not describe. Without credentials that are written out. */
export interface GraphSnapshot {
  form: 'graph';
  description: string | null;
  labels: Record<string, string>;
  logLevel: LogLevelName;
  /** Absent: none is set. */
  drainSeconds?: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  /** Names; of those that the target has, it is to depend. */
  dependsOn: string[];
  /** A start for a target that is new; one that is there keeps its own. */
  nodeSelector: Record<string, string> | null;
  /** Where credentials stood that do not travel: `/out/auth/password` of a component, `/global/…` of the rest. */
  stripped: string[];
}

/** What of a manifest belongs to its environment; it only gives a new manifest a start. */
export interface LocalFields {
  nodeSelector?: unknown;
  values?: unknown;
  rollout?: unknown;
}

/** For a target that git describes: the fields that travel, as a manifest writes them. */
export interface ManifestSnapshot {
  form: 'manifest';
  labels: Record<string, string>;
  /**
   * `sources`, `transforms`, `sinks`, `components`, `global`, `logLevel`, `drainSeconds`, `tests`, `description`, `dependsOn`. Placeholders
   * stand as they are written. A `$file` is a path from the root of the repository with `/` before it; one that the target
   * may not read is the text itself.
   */
  spec: Record<string, unknown>;
  start: LocalFields;
}

export type Snapshot = GraphSnapshot | ManifestSnapshot;

/** Names one content: SHA-256, in hex. */
export const digestOf = (snapshot: Snapshot): string =>
  createHash('sha256').update(stringify(snapshot)).digest('hex');
