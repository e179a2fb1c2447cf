/** Alert rules. Evaluating them is not part of this version: a rule is kept, shown, and raises nothing yet. */
import Type, { type Static } from 'typebox';
import { ALERT_CONDITIONS, ALERT_METRICS } from '../manifests/alert-rule.ts';
import { GitOrigin, GivenName, Id, Input, LabelMap, Nullable, Timestamp } from './common.ts';

export const AlertMetric = Type.Enum([...ALERT_METRICS]);
export const AlertCondition = Type.Enum([...ALERT_CONDITIONS]);

export const AlertRule = Type.Object({
  id: Id,
  environmentId: Id,
  teamId: Id,
  name: Type.String(),
  /** Null watches every pipeline and node of the environment. */
  pipelineId: Nullable(Id),
  pipelineName: Nullable(Type.String()),
  /** Usages are percentages, rates are events a second, the others 0 or 1. */
  metric: AlertMetric,
  condition: AlertCondition,
  threshold: Type.Number(),
  /** How long the condition must hold before the alert fires. */
  durationSeconds: Type.Integer(),
  enabled: Type.Boolean(),
  labels: LabelMap,
  managedBy: Type.Enum(['ui', 'git']),
  /** Null for a rule that the UI owns. */
  git: Nullable(GitOrigin),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type AlertRule = Static<typeof AlertRule>;
export const AlertRuleList = Type.Array(AlertRule);

export const ListAlertRules = Input({ environmentId: Id });

const Threshold = Type.Number({ minimum: -1e15, maximum: 1e15 });
const DurationSeconds = Type.Integer({ minimum: 0, maximum: 86_400 });
export const DEFAULT_DURATION_SECONDS = 60;

export const CreateAlertRule = Input({
  name: GivenName,
  environmentId: Id,
  /** Absent watches every pipeline and node of the environment. */
  pipelineId: Type.Optional(Id),
  metric: AlertMetric,
  condition: AlertCondition,
  threshold: Threshold,
  /** 60 where absent. */
  durationSeconds: Type.Optional(DurationSeconds),
  /** That of the environment. */
  teamId: Id,
});
export const UpdateAlertRule = Input({
  id: Id,
  name: Type.Optional(GivenName),
  enabled: Type.Optional(Type.Boolean()),
  threshold: Type.Optional(Threshold),
  durationSeconds: Type.Optional(DurationSeconds),
});
export const AlertRuleId = Input({ id: Id });
