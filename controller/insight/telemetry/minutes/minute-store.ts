/** Where points of minutes are kept: in Postgres, or in a store that takes Prometheus remote write and answers PromQL. */
import type { Knex } from 'knex';
import type { MetricsSeries } from '../../../../schemas/api/insight/metrics.ts';
import type { Breaches, BreachQuery } from '../breaches/breach.ts';
import type { Grown } from '../record/points-store.ts';
import type { NodeReadings } from '../record/readings-store.ts';
import type { HostSeries } from '../series/node-queries.ts';
import type { Window } from '../series/window.ts';

/** Whose points are wanted, and what a series of the answer stands for. */
export type MinuteSource =
  /** All nodes of a pipeline together, or each component or node. */
  | { of: 'pipeline' | 'components' | 'nodes'; pipelineId: string }
  /** All nodes of each pipeline, of any environments. */
  | { of: 'pipelines'; pipelineIds: readonly string[] }
  /** All pipelines of a node together. */
  | { of: 'node'; nodeId: string }
  | ({ of: 'environment' } & EnvironmentFilter);

export interface EnvironmentFilter {
  environmentId: string;
  /** Null for all. */
  nodeIds: readonly string[] | null;
  pipelineIds: readonly string[] | null;
  groupBy: 'pipeline' | 'node' | 'aggregate';
}

export interface SeriesOptions {
  window: Window;
  /** Whether the lowest and highest minute of each step are wanted. */
  extremes: boolean;
}

export interface MinuteStore {
  /** Whether SQL can read the points. */
  readonly isInPostgres: boolean;
  /** In the transaction that stores the readings. */
  write(tx: Knex, grown: readonly Grown[], nodes: readonly NodeReadings[]): Promise<void>;
  /** Whether it has done what was missing for `write`, which is then tried again. */
  prepare(db: Knex, nodes: readonly NodeReadings[], error: unknown): Promise<boolean>;
  /** After its commit. */
  committed(grown: readonly Grown[], nodes: readonly NodeReadings[]): void;
  readSeries(db: Knex, source: MinuteSource, options: SeriesOptions): Promise<MetricsSeries[]>;
  /** The series with the most bytes, and how many there are. */
  largestSeries(
    db: Knex,
    source: MinuteSource,
    window: Pick<Window, 'from' | 'to'>,
    limit: number,
  ): Promise<{ ids: string[]; total: number }>;
  /** When engines of the pipeline ended, and how many in that step. */
  readExits(db: Knex, pipelineId: string, window: Window): Promise<{ at: Date; exits: number }[]>;
  readHost(db: Knex, nodeId: string, window: Window): Promise<HostSeries>;
  /** When minutes of single nodes or pipelines met a condition. */
  readBreaches(db: Knex, query: BreachQuery): Promise<Breaches>;
  /** Number of samples that wait, and of those that were dropped since the start. */
  sizes(): { waiting: number; dropped: number };
  stop(): Promise<void>;
}

declare module '../../../platform/operation/context.ts' {
  interface Services {
    minutes: MinuteStore;
  }
}
