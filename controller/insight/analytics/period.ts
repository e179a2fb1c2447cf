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
  /** Volumes of an hour are read by the minute where Postgres has minutes, others by the hour. */
  unit: 'minute' | 'hour';
}

const HOURS: Readonly<Record<AnalyticsRange, number>> = { '1h': 1, '6h': 6, '1d': 24, '7d': 168, '30d': 720 };
const STEP_HOURS: Readonly<Record<AnalyticsRange, number>> = {
  ...{ '1h': 1 / 60, '6h': 1, '1d': 1, '7d': 1 },
  '30d': 6,
};

/**
 * It begins with a whole step and ends at `now`, in milliseconds since 1970. Where Postgres has no minutes, an hour is the
 * last whole one, so that the one before is as long.
 */
export function periodOf(range: AnalyticsRange, now: number, hasMinutes: boolean): Period {
  if (range === '1h' && !hasMinutes) {
    const to = Math.floor(now / HOUR_MS) * HOUR_MS;
    return {
      ...{ from: to - HOUR_MS, to, previousFrom: to - 2 * HOUR_MS },
      ...{ stepSeconds: HOUR_MS / 1_000, steps: 1, unit: 'hour' },
    };
  }
  const stepMs = Math.max(MINUTE_MS, STEP_HOURS[range] * HOUR_MS);
  const lengthMs = HOURS[range] * HOUR_MS;
  const from = Math.floor((now - lengthMs) / stepMs) * stepMs;
  return {
    ...{ from, to: now, previousFrom: from - lengthMs, stepSeconds: stepMs / 1_000 },
    steps: Math.ceil((now - from) / stepMs),
    unit: range === '1h' ? 'minute' : 'hour',
  };
}
