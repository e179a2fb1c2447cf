/** The window of a chart: how it is cut into steps, so that no chart has more than a few hundred points. Pure. */
import { HOUR_MS, MINUTE_MS } from '../record/growth.ts';

export interface Window {
  /** Milliseconds since 1970, at the start of a step. */
  from: number;
  to: number;
  stepSeconds: number;
  steps: number;
}

export const MAX_STEPS = 400;
const STEP_MINUTES = [1, 2, 5, 10, 15, 30, 60, 180, 360, 720, 1_440, 2_880];

/** The shortest step with which `minutes` have at most `MAX_STEPS`; it ends with the step that `end` lies in. */
export function windowOf(minutes: number, end: number): Window {
  const stepMinutes =
    STEP_MINUTES.find((step) => Math.ceil(minutes / step) <= MAX_STEPS) ?? Math.ceil(minutes / MAX_STEPS);
  const stepMs = stepMinutes * MINUTE_MS;
  const to = Math.ceil(end / stepMs) * stepMs;
  const steps = Math.ceil(minutes / stepMinutes);
  return { from: to - steps * stepMs, to, stepSeconds: stepMs / 1_000, steps };
}

/** Whether sums by the hour are fine enough for it. */
export const isByHours = ({ stepSeconds }: Window): boolean => stepSeconds * 1_000 >= HOUR_MS;

/** The same time in steps of an hour, whole ones. */
export function windowByHours({ from, to }: Window): Window {
  const start = Math.floor(from / HOUR_MS) * HOUR_MS;
  const end = Math.ceil(to / HOUR_MS) * HOUR_MS;
  return { from: start, to: end, stepSeconds: HOUR_MS / 1_000, steps: (end - start) / HOUR_MS };
}
