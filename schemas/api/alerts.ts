/** Alert rules. Evaluating them is not part of this version: a rule is kept, shown, and raises nothing yet. */
import Type, { type Static } from 'typebox';
import { ALERT_CONDITIONS, ALERT_METRICS } from '../manifests/alert-rule.ts';
import { GitOrigin, Id, Input, LabelMap, Nullable, Timestamp } from './common.ts';

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
