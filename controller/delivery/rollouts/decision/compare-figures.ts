/** What figures of a window say of a version. Pure. */
import type { RolloutFigures } from '../../../../schemas/api/delivery/rollouts.ts';

export interface Comparison {
  verdict: 'healthy' | 'unhealthy' | 'unsure';
  /** A sentence with the figures that decided. */
  message: string;
}

/** Fewer on the canary say nothing: one error among them would be a percent. */
export const ENOUGH_EVENTS = 100;
/** The canary's share of bad events is worse where it is both this much higher, in points of 1, and this many times as high. */
const WORSE_BY = 0.01;
const WORSE_TIMES = 1.5;
/** And where chance would hardly do it: so many standard deviations of the difference of two shares. */
const DEVIATIONS = 3;
/** Events out per event in, with those that a filter took away: less than this part of the control's is far behind. */
const LEAST_OUTPUT = 0.5;
/** Where nothing else runs to be compared with. */
const MOST_ERRORS_ALONE = 0.05;

/**
 * The canary against the control over the same time, or alone where there is no control with enough events. Bad events are
 * errors and discarded ones, of those that came in. The test of chance is the pooled two-proportion z-test; where the
 * share is worse and chance could still have done it, nobody can say yet.
 */
export function compareFigures(canary: RolloutFigures, control: RolloutFigures): Comparison {
  if (canary.eventsIn < ENOUGH_EVENTS)
    return {
      verdict: 'unsure',
      message: `Too few events to say: ${count(canary.eventsIn)} of at least ${ENOUGH_EVENTS} on the canary`,
    };
  return control.eventsIn < ENOUGH_EVENTS ? alone(canary) : against(canary, control);
}

function alone({ errorRate, eventsIn }: RolloutFigures): Comparison {
  const rate = errorRate ?? 0;
  const message = `${percent(rate)} of ${count(eventsIn)} events failed or were lost, and no other nodes to compare with`;
  return { verdict: rate > MOST_ERRORS_ALONE ? 'unhealthy' : 'healthy', message };
}

function against(canary: RolloutFigures, control: RolloutFigures): Comparison {
  const [rate, usual] = [canary.errorRate ?? 0, control.errorRate ?? 0];
  const rates = `${percent(rate)} of ${count(canary.eventsIn)} events failed or were lost, ${percent(usual)} of ${count(control.eventsIn)} on the other nodes`;
  const isWorse = rate > usual + WORSE_BY && rate > usual * WORSE_TIMES;
  if (isWorse)
    return deviations(canary, control) > DEVIATIONS
      ? { verdict: 'unhealthy', message: rates }
      : { verdict: 'unsure', message: `Too few events to say: ${rates}` };
  const [out, usualOut] = [outputOf(canary), outputOf(control)];
  if (out < usualOut * LEAST_OUTPUT)
    return {
      verdict: 'unhealthy',
      message: `${out.toFixed(2)} events go out or are filtered for each that comes in, ${usualOut.toFixed(2)} on the other nodes`,
    };
  return { verdict: 'healthy', message: rates };
}

/** What a filter leaves out is dealt with. */
const outputOf = ({ eventsIn, eventsOut, filtered = 0 }: RolloutFigures): number =>
  (eventsOut + filtered) / eventsIn;

function deviations(canary: RolloutFigures, control: RolloutFigures): number {
  const [n, m] = [canary.eventsIn, control.eventsIn];
  const [rate, usual] = [canary.errorRate ?? 0, control.errorRate ?? 0];
  const pooled = (rate * n + usual * m) / (n + m);
  const spread = Math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
  return spread === 0 ? Number.POSITIVE_INFINITY : (rate - usual) / spread;
}

const count = (events: number): string => String(Math.round(events));
const percent = (rate: number): string => `${(rate * 100).toFixed(2)} %`;
