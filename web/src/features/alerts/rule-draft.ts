/** A rule while it is written: texts as they stand in the fields, and what is wrong with them. */
import type { AlertRule } from '../../../../schemas/api/insight/alerts.ts';
import { isFact } from './rule-text.ts';

export interface RuleDraft {
  name: string;
  /** Empty is the whole environment. */
  pipelineId: string;
  metric: AlertRule['metric'];
  condition: AlertRule['condition'];
  threshold: string;
  /** Seconds. */
  duration: string;
  enabled: boolean;
}

export const NEW_RULE: RuleDraft = {
  name: '',
  pipelineId: '',
  metric: 'cpu_usage',
  condition: 'gt',
  threshold: '90',
  duration: '60',
  enabled: true,
};

export const draftOf = (rule: AlertRule): RuleDraft => ({
  name: rule.name,
  pipelineId: rule.pipelineId ?? '',
  metric: rule.metric,
  condition: rule.condition,
  threshold: String(rule.threshold),
  duration: String(rule.durationSeconds),
  enabled: rule.enabled,
});

const MAX_DURATION = 86_400;

export function thresholdProblem({ metric, threshold }: RuleDraft): string {
  if (isFact(metric)) return '';
  return threshold.trim() !== '' && Number.isFinite(Number(threshold))
    ? ''
    : 'A number, for example 90 or 0.5.';
}

export function durationProblem({ duration }: RuleDraft): string {
  const seconds = Number(duration);
  const good = duration.trim() !== '' && Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_DURATION;
  return good ? '' : 'Whole seconds, from 0 to 86,400.';
}

export type Meaning = Pick<AlertRule, 'metric' | 'condition' | 'threshold' | 'durationSeconds'>;

/** The rule of the draft; null while a number is invalid. */
export function meaningOf(draft: RuleDraft, rule: AlertRule | null): Meaning | null {
  if (thresholdProblem(draft) || durationProblem(draft)) return null;
  const { metric } = draft;
  const durationSeconds = Number(draft.duration);
  if (!isFact(metric))
    return { metric, condition: draft.condition, threshold: Number(draft.threshold), durationSeconds };
  return rule
    ? { metric, condition: rule.condition, threshold: rule.threshold, durationSeconds }
    : { metric, condition: 'eq', threshold: 1, durationSeconds };
}
