/**
 * One step of one subject of a rule: what a new value makes of its state. Pure.
 *
 * The condition must hold for the rule's duration before an event begins, and must not hold for a while before it ends. That
 * while doubles each time the event fires again, so an alert that flaps sends few messages.
 */
import type { AlertRule } from '../../../../schemas/api/insight/alerts.ts';

export type Condition = Pick<AlertRule, 'metric' | 'condition' | 'threshold' | 'durationSeconds'>;

export interface AlertState {
  /** Milliseconds since 1970 from when the condition holds; null where it does not. */
  since: number | null;
  /** While an event is open: from when the condition does not hold. */
  clearSince: number | null;
  /** Evaluations in a row without a value. */
  missing: number;
}

/** How often an open event has fired; null where none is open. */
export type OpenTimes = number | null;

/** A number; null where nothing is known of a subject that should report; `unknown` where it is too early to judge. */
export type Value = number | null | 'unknown';

export const NO_STATE: AlertState = { since: null, clearSince: null, missing: 0 };

/** Without values for so many evaluations, an event ends; but for `node_unreachable`, which silence cannot end. */
export const MISSING_EVALUATIONS = 3;
const CLEAR_MS = 30_000;
const MAX_CLEAR_MS = 15 * 60_000;

export type Transition = 'fire' | 'resolve' | 'resolve: no data' | null;

export function holds({ condition, threshold }: Pick<Condition, 'condition' | 'threshold'>, value: number) {
  if (condition === 'gt') return value > threshold;
  if (condition === 'lt') return value < threshold;
  return value === threshold;
}

export const clearAfterMs = (times: number): number =>
  Math.min(MAX_CLEAR_MS, CLEAR_MS * 2 ** Math.min(times - 1, 10));

export function step(
  rule: Condition,
  state: AlertState,
  { value, open, now }: { value: Value; open: OpenTimes; now: number },
): { state: AlertState; transition: Transition } {
  if (value === 'unknown') return { state, transition: null };
  if (value === null) return withoutValue(rule, state, open);
  if (holds(rule, value)) {
    const since = Math.min(state.since ?? now, now);
    const next = { since, clearSince: null, missing: 0 };
    const due = open === null && now - since >= rule.durationSeconds * 1_000;
    return { state: next, transition: due ? 'fire' : null };
  }
  if (open === null) return { state: NO_STATE, transition: null };
  const clearSince = Math.min(state.clearSince ?? now, now);
  if (now - clearSince >= clearAfterMs(open)) return { state: NO_STATE, transition: 'resolve' };
  return { state: { since: null, clearSince, missing: 0 }, transition: null };
}

function withoutValue(
  { metric }: Condition,
  state: AlertState,
  open: OpenTimes,
): { state: AlertState; transition: Transition } {
  if (metric === 'node_unreachable') return { state, transition: null };
  const missing = state.missing + 1;
  if (missing < MISSING_EVALUATIONS) {
    const waits = open !== null || state.since !== null;
    return { state: waits ? { ...state, missing } : NO_STATE, transition: null };
  }
  return { state: NO_STATE, transition: open === null ? null : 'resolve: no data' };
}
