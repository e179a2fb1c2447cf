/** A rule that raises an alert. */
import Type, { type Static } from 'typebox';
import { manifest, PrintableName, Strict, type WithDefaults } from './common.ts';

export const ALERT_METRICS = [
  'node_unreachable',
  'cpu_usage',
  'memory_usage',
  'disk_usage',
  'error_rate',
  'discarded_rate',
  'pipeline_crashed',
] as const;
export type AlertMetric = (typeof ALERT_METRICS)[number];
export const ALERT_CONDITIONS = ['gt', 'lt', 'eq'] as const;
export type AlertCondition = (typeof ALERT_CONDITIONS)[number];

export const AlertRuleSpecSchema = Strict('When to raise the alert.', {
  pipelineRef: Type.Optional(
    Type.String({
      description: 'The name of the pipeline that is watched. Absent: all of the environment.',
      minLength: 1,
      maxLength: 100,
    }),
  ),
  metric: Type.Enum([...ALERT_METRICS], {
    description: 'What is measured. Usages are percentages, rates are events a second.',
  }),
  condition: Type.Enum([...ALERT_CONDITIONS], {
    description: 'How the metric is compared to the threshold.',
  }),
  threshold: Type.Number({ description: 'What the metric is compared to.' }),
  durationSeconds: Type.Optional(
    Type.Integer({
      description: 'How long the condition must hold before the alert fires, in seconds.',
      minimum: 0,
      maximum: 86_400,
      default: 60,
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'false keeps the rule silent.', default: true })),
});

export const AlertRuleManifest = manifest(
  'AlertRule',
  'A rule that raises an alert.',
  PrintableName,
  AlertRuleSpecSchema,
);
export type AlertRuleSpec = WithDefaults<Static<typeof AlertRuleSpecSchema>, 'durationSeconds' | 'enabled'>;
