/** What the last evaluation says of a rule: whether it fires, and whether it can. Pure. */
import type { AlertRule } from '../../../../../schemas/api/insight/alerts.ts';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { plural } from '../../../ui/text/format.ts';
import { isNeverMet, watchedNoun } from '../rule-text.ts';

export const RULE_STATES = ['firing', 'pending', 'cannot-fire', 'ok', 'waiting', 'silent'] as const;

export interface RuleState {
  kind: (typeof RULE_STATES)[number];
  tone: Tone;
  icon?: 'alerts' | 'warning' | 'dash';
  word: string;
  tip: string;
}

/** An unchanged evaluation is stored once a minute; one that is older than this has not taken place. */
const OLD_MS = 5 * 60_000;

type Rule = Pick<
  AlertRule,
  | 'enabled'
  | 'evaluation'
  | 'metric'
  | 'condition'
  | 'threshold'
  | 'durationSeconds'
  | 'pipelineName'
  | 'pipelineId'
  | 'git'
>;

export function ruleState(rule: Rule, now: number): RuleState {
  const { evaluation } = rule;
  if (!rule.enabled) {
    const tip = rule.git ? 'enabled: false in its manifest keeps it silent' : 'It is not enabled';
    return { kind: 'silent', tone: 'unknown', icon: 'dash', word: 'Silent', tip };
  }
  if (!evaluation) {
    const tip = 'Rules are evaluated every 15 seconds by the controller that leads';
    return { kind: 'waiting', tone: 'unknown', word: 'Not evaluated yet', tip };
  }
  const minutes = Math.floor((now - evaluation.evaluatedAt.getTime()) / 60_000);
  if (minutes * 60_000 >= OLD_MS) {
    const tip = `The last evaluation was ${minutes} min ago. No controller may be leading: see its log`;
    return { kind: 'waiting', tone: 'held', icon: 'warning', word: 'Not evaluated', tip };
  }
  if (evaluation.firing > 0) {
    const word = `Firing (${evaluation.firing})`;
    return { kind: 'firing', tone: 'failed', icon: 'alerts', word, tip: evaluationText(evaluation) };
  }
  const cannot = whyCannotFire(rule);
  if (cannot) return { kind: 'cannot-fire', tone: 'held', icon: 'warning', word: 'Cannot fire', tip: cannot };
  const tip = evaluationText(evaluation);
  if (evaluation.pending > 0) return { kind: 'pending', tone: 'moving', word: 'Pending', tip };
  return { kind: 'ok', tone: 'ok', word: 'OK', tip };
}

/** A sentence; null where the rule may fire. */
function whyCannotFire(rule: Rule): string | null {
  const { evaluation, metric, pipelineId, pipelineName } = rule;
  if (!evaluation) return null;
  if (isNeverMet(rule)) return 'Its condition is never met: the value is 0 or 1';
  const noun = watchedNoun(metric);
  const where = pipelineId ? `of ${pipelineName ?? 'its pipeline'}` : 'in this environment';
  if (evaluation.series === 0) return `There is no ${noun.one} ${where} that it could look at`;
  if (evaluation.withValue > 0) return null;
  return evaluation.series === 1
    ? `The one ${noun.one} that it looks at does not report this value`
    : `None of the ${plural(evaluation.series, noun.one, noun.many)} reports this value yet`;
}

/** `12 series, 1 firing, 2 pending`; what is zero is left out. */
export function evaluationText(evaluation: NonNullable<AlertRule['evaluation']>): string {
  const { series, withValue, firing, pending } = evaluation;
  const parts = [plural(series, 'series', 'series')];
  if (firing > 0) parts.push(`${firing} firing`);
  if (pending > 0) parts.push(`${pending} pending`);
  if (withValue === 0 && series > 0) parts.push('no value');
  else if (withValue < series) parts.push(`${series - withValue} without a value`);
  return parts.join(', ');
}
