/** The time that an analysis looks at. Pure. */
import type { AnalyticsRange } from '../../../schemas/api/insight/analytics.ts';

const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

export interface Period {
  /** Milliseconds since 1970. */
  from: number;
  to: number;
  /** The start of the period of the same length before. */
  previousFrom: number;
  stepSeconds: number;
  steps: number;
  /** Volumes of an hour are read by the minute, longer ones by the hour. */
  unit: 'minute' | 'hour';
}

const HOURS: Readonly<Record<AnalyticsRange, number>> = { '1h': 1, '6h': 6, '1d': 24, '7d': 168, '30d': 720 };
const STEP_HOURS: Readonly<Record<AnalyticsRange, number>> = {
  ...{ '1h': 1 / 60, '6h': 1, '1d': 1, '7d': 1 },
  '30d': 6,
};

/** It begins with a whole step and ends now. */
export function periodOf(range: AnalyticsRange, now: number): Period {
  const stepMs = Math.max(MINUTE_MS, STEP_HOURS[range] * HOUR_MS);
  const lengthMs = HOURS[range] * HOUR_MS;
  const from = Math.floor((now - lengthMs) / stepMs) * stepMs;
  return {
    ...{ from, to: now, previousFrom: from - lengthMs, stepSeconds: stepMs / 1_000 },
    steps: Math.ceil((now - from) / stepMs),
    unit: range === '1h' ? 'minute' : 'hour',
  };
}
