/** What one evaluation of an environment's rules finds. Nothing is written here. */
import { setImmediate } from 'node:timers/promises';
import { type ActiveSilence, mutedBy } from '../../../../schemas/alerts/silence-matching.ts';
import { type Observation, type Subject, seriesOf, subjectKey } from './series.ts';
import { type AlertState, type Condition, holds, NO_STATE, step } from './step.ts';

export interface EvaluatedRule extends Condition {
  id: string;
  name: string;
  pipelineId: string | null;
}

/** An event that is not resolved. */
export interface OpenEvent {
  id: string;
  ruleId: string;
  subject: string;
  status: 'firing' | 'acknowledged';
  value: number | null;
  peak: number | null;
  times: number;
  mutedBy: string | null;
  notified: boolean;
}

export interface Known {
  rules: readonly EvaluatedRule[];
  /** Of rules that are not enabled. */
  disabledRules: ReadonlySet<string>;
  /** By rule and subject: `stateKey`. */
  states: ReadonlyMap<string, AlertState>;
  open: readonly OpenEvent[];
  silences: readonly ActiveSilence[];
}

export const stateKey = (ruleId: string, subject: string): string => `${ruleId} ${subject}`;

const ruleOf = (key: string): string => key.slice(0, key.indexOf(' '));
const subjectOf = (key: string): string => key.slice(key.indexOf(' ') + 1);

export interface RuleCounts {
  ruleId: string;
  series: number;
  withValue: number;
  pending: number;
  firing: number;
}

export interface ChangedEvent {
  event: OpenEvent;
  rule: EvaluatedRule;
  subject: Subject;
  value: number | null;
  peak: number | null;
  mutedBy: string | null;
}

export interface Evaluation {
  fired: { rule: EvaluatedRule; subject: Subject; value: number; mutedBy: string | null }[];
  resolved: { event: OpenEvent; reason: string | null; value: number | null }[];
  /** Open events with another value, or muted otherwise than before. */
  changed: ChangedEvent[];
  /** Open events that were muted when they fired, and are not any more. */
  due: OpenEvent[];
  /** Null deletes the state. */
  states: { ruleId: string; subject: string; state: AlertState | null }[];
  counts: RuleCounts[];
}

/** Other requests are answered after so many series. */
const SERIES_AT_ONCE = 1_000;

const GONE = 'it is not watched any more';
const RULE_GONE = 'its rule was deleted';
const RULE_DISABLED = 'its rule was disabled';
const NO_DATA = 'no data';

export async function evaluateRules(
  known: Known,
  observation: Observation,
  now: number,
): Promise<Evaluation> {
  const found: Evaluation = { fired: [], resolved: [], changed: [], due: [], states: [], counts: [] };
  const open = new Map(known.open.map((event) => [stateKey(event.ruleId, event.subject), event]));
  const unseen = new Set([...open.keys(), ...known.states.keys()]);
  /** Of most rules nothing is known, and no key has to be built for their subjects. */
  const isKnown = new Set([
    ...known.open.map(({ ruleId }) => ruleId),
    ...[...known.states.keys()].map(ruleOf),
  ]);
  let waiting = 0;
  for (const rule of known.rules) {
    const knowsRule = isKnown.has(rule.id);
    const counts = { ruleId: rule.id, series: 0, withValue: 0, pending: 0, firing: 0 };
    for (const { subject, value, isEarly } of seriesOf(rule, observation)) {
      waiting += 1;
      if (waiting % SERIES_AT_ONCE === 0) await setImmediate();
      counts.series += 1;
      if (typeof value === 'number') counts.withValue += 1;
      if (!knowsRule && (typeof value !== 'number' || !holds(rule, value))) continue;
      const own = subjectKey(subject);
      const key = stateKey(rule.id, own);
      const event = open.get(key);
      const before = known.states.get(key);
      // Nearly all of them.
      if (!event && !before && (typeof value !== 'number' || !holds(rule, value))) continue;
      unseen.delete(key);
      const { state, transition } = step(rule, before ?? NO_STATE, {
        value: isEarly && (event || before) ? 'unknown' : value,
        open: event?.times ?? null,
        now,
      });
      const number = typeof value === 'number' ? value : null;
      noteState(found, rule.id, own, before, state);
      if (transition === 'fire' && number !== null) {
        counts.firing += 1;
        const muted = mutedBy({ rule: rule.name, metric: rule.metric, ...subject }, known.silences);
        found.fired.push({ rule, subject, value: number, mutedBy: muted });
      } else if (event && transition !== null) {
        found.resolved.push({ event, reason: transition === 'resolve' ? null : NO_DATA, value: number });
      } else if (event) {
        counts.firing += 1;
        noteOpen(found, { rule, subject, event, value: number }, known.silences);
      } else if (state.since !== null) counts.pending += 1;
    }
    found.counts.push(counts);
  }
  resolveUnseen(found, { open, unseen, known });
  return found;
}

function noteState(
  found: Evaluation,
  ruleId: string,
  subject: string,
  before: AlertState | undefined,
  state: AlertState,
): void {
  const isEmpty = state.since === null && state.clearSince === null && state.missing === 0;
  if (isEmpty && before) found.states.push({ ruleId, subject, state: null });
  const isOther =
    state.since !== before?.since ||
    state.clearSince !== before.clearSince ||
    state.missing !== before.missing;
  if (!isEmpty && isOther) found.states.push({ ruleId, subject, state });
}

function noteOpen(
  found: Evaluation,
  {
    rule,
    subject,
    event,
    value,
  }: { rule: EvaluatedRule; subject: Subject; event: OpenEvent; value: number | null },
  silences: readonly ActiveSilence[],
): void {
  const muted = mutedBy({ rule: rule.name, metric: rule.metric, ...subject }, silences);
  const newest = value ?? event.value;
  const peak = value === null || !holds(rule, value) ? event.peak : farther(rule, event.peak, value);
  if (muted !== event.mutedBy || newest !== event.value || peak !== event.peak)
    found.changed.push({ event, rule, subject, value: newest, peak, mutedBy: muted });
  if (!event.notified && muted === null && event.status === 'firing') found.due.push(event);
}

const farther = ({ condition }: Condition, peak: number | null, value: number): number =>
  peak === null ? value : condition === 'lt' ? Math.min(peak, value) : Math.max(peak, value);

/** Events and states of what is not watched any more: a deleted node, a pipeline that was undeployed, a disabled rule. */
function resolveUnseen(
  found: Evaluation,
  {
    open,
    unseen,
    known,
  }: { open: ReadonlyMap<string, OpenEvent>; unseen: ReadonlySet<string>; known: Known },
): void {
  const enabled = new Set(known.rules.map(({ id }) => id));
  const reasonOf = (ruleId: string) =>
    enabled.has(ruleId) ? GONE : known.disabledRules.has(ruleId) ? RULE_DISABLED : RULE_GONE;
  for (const key of unseen) {
    const event = open.get(key);
    const ruleId = event?.ruleId ?? ruleOf(key);
    const subject = event?.subject ?? subjectOf(key);
    if (known.states.has(key)) found.states.push({ ruleId, subject, state: null });
    if (!event) continue;
    found.resolved.push({ event, reason: reasonOf(ruleId), value: null });
  }
}
