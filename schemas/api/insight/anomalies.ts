import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Text, Timestamp } from '../common.ts';

export const ANOMALY_METRICS = ['eventsIn', 'errors', 'latency'] as const;
export const AnomalyMetric = Type.Enum([...ANOMALY_METRICS]);
export type AnomalyMetric = Static<typeof AnomalyMetric>;
/** The mildest first. */
export const ANOMALY_SEVERITIES = ['info', 'warning', 'critical'] as const;
export const AnomalySeverity = Type.Enum([...ANOMALY_SEVERITIES]);
export type AnomalySeverity = Static<typeof AnomalySeverity>;
export const AnomalyStatus = Type.Enum(['open', 'acknowledged', 'dismissed']);
export type AnomalyStatus = Static<typeof AnomalyStatus>;
export const AnomalyDirection = Type.Enum(['up', 'down']);
export type AnomalyDirection = Static<typeof AnomalyDirection>;

export const Anomaly = Type.Object({
  id: Id,
  environmentId: Id,
  pipelineId: Id,
  pipelineName: Type.String(),
  metric: AnomalyMetric,
  direction: AnomalyDirection,
  /** The worst so far, with the value and the range of that moment. */
  severity: AnomalySeverity,
  /** Events or errors per second, or milliseconds. */
  value: Type.Number(),
  expectedLow: Type.Number(),
  expectedHigh: Type.Number(),
  /** Standard deviations beyond what is usual. */
  sigma: Type.Number(),
  status: AnomalyStatus,
  startedAt: Timestamp,
  lastSeenAt: Timestamp,
  /** Null while it goes on. */
  endedAt: Nullable(Timestamp),
  /** Of the last deploy before it. */
  version: Nullable(Type.Integer()),
  versionId: Nullable(Id),
  commit: Nullable(Type.String()),
  deployedAt: Nullable(Timestamp),
  /** Who acknowledged or dismissed it, and when. */
  decidedBy: Nullable(Type.String()),
  decidedAt: Nullable(Timestamp),
});
export type Anomaly = Static<typeof Anomaly>;

export const ListAnomalies = Input({
  environmentId: Id,
  pipelineId: Type.Optional(Id),
  status: Type.Optional(AnomalyStatus),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(
    Type.String({ pattern: worded('^[0-9a-z]{26}$', 'must be a cursor that an earlier answer gave') }),
  ),
});
export type ListAnomalies = Static<typeof ListAnomalies>;
/** The newest first. */
export const AnomalyPage = Type.Object({
  anomalies: Type.Array(Anomaly),
  /** Give it as `cursor` for those before; null at the end. */
  nextCursor: Nullable(Id),
});
export type AnomalyPage = Static<typeof AnomalyPage>;

export const AnomaliesOf = Input({ environmentId: Id });
/** Open ones by the id of their pipeline; pipelines without any are absent. */
export const AnomalyCounts = Type.Record(Type.String(), Type.Integer());
export const AnomalySeverities = Type.Record(Type.String(), AnomalySeverity);
export const AnomalyId = Input({ environmentId: Id, anomalyId: Id });

export const AnomalyLimits = {
  baselineWindowDays: { minimum: 1, maximum: 90 },
  sigmaThreshold: { minimum: 1, maximum: 10 },
  minStddevFloorPercent: { minimum: 0, maximum: 100 },
  dedupWindowHours: { minimum: 1, maximum: 168 },
} as const;
export const UpdateAnomalyConfig = Input({
  /** Days of the past that are compared with. */
  baselineWindowDays: Type.Integer(AnomalyLimits.baselineWindowDays),
  /** Standard deviations from which on a deviation is a warning. */
  sigmaThreshold: Type.Number(AnomalyLimits.sigmaThreshold),
  /** The standard deviation is at least this part of what is usual. */
  minStddevFloorPercent: Type.Number(AnomalyLimits.minStddevFloorPercent),
  /** Within it there is one anomaly of a pipeline, metric and direction. */
  dedupWindowHours: Type.Integer(AnomalyLimits.dedupWindowHours),
  /** Names from `eventsIn`, `errors`, `latency`, with commas between them; empty for none. */
  enabledMetrics: Text(200),
});
export type UpdateAnomalyConfig = Static<typeof UpdateAnomalyConfig>;
export const AnomalyConfigView = Type.Object({
  baselineWindowDays: Type.Integer(),
  sigmaThreshold: Type.Number(),
  minStddevFloorPercent: Type.Number(),
  dedupWindowHours: Type.Integer(),
  enabledMetrics: Type.String(),
});
export type AnomalyConfigView = Static<typeof AnomalyConfigView>;
