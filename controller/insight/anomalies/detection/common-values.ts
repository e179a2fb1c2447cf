/** Whether a value that looks unusual by the hour has been seen at this time of the day before: batches, bursts, weekends. Pure. */
import type { AnomalyDirection as Direction } from '../../../../schemas/api/insight/anomalies.ts';
import { median } from './robust.ts';

/** Steps around the same time of each past day, to both sides. */
export const AROUND_MS = 90 * 60_000;
const WEEK = 7;
/** More days are not looked at. */
export const MAX_DAYS = WEEK;

/** A value is common that this share of the steps reached, on days as many. */
const COMMON_SHARE = 0.04;
const COMMON_DAYS = 2;
/** A day is like the present where so many of its steps reached the value. The day a week ago is enough of them. */
const LIKE_SHARE = 0.5;
/** A past value so close counts as reached. */
const TOLERANCE = 0.05;
/** The same for bursts, which vary more than what is there all the time. */
const BURST_TOLERANCE = 0.3;
/** What is so many times the usual, or the usual of it, comes in bursts where it is common. */
const BURST_FACTOR = 2;

/** `days` are the steps around the same time, of yesterday first. */
export function isCommon(
  days: readonly (readonly (number | null)[])[],
  value: number,
  direction: Direction,
): boolean {
  const usual = median(days.flat().filter((step) => step !== null));
  const isBurst = direction === 'up' ? value > BURST_FACTOR * usual : BURST_FACTOR * value < usual;
  const tolerance = isBurst ? BURST_TOLERANCE : TOLERANCE;
  const reached =
    direction === 'up'
      ? (past: number) => past >= value * (1 - tolerance)
      : (past: number) => past <= value * (1 + tolerance);
  const counts = days.map((steps) => {
    const there = steps.filter((step) => step !== null);
    const past = there.filter(reached).length;
    return {
      reached: past,
      all: there.length,
      isLike: there.length > 0 && past >= LIKE_SHARE * there.length,
    };
  });
  const weekAgo = counts[WEEK - 1];
  if (weekAgo?.isLike) return true;
  // A quiet weekend is no reason for a quiet Wednesday.
  const comparable = weekAgo && weekAgo.all > 0 ? counts.filter(({ isLike }) => !isLike) : counts;
  const all = comparable.reduce((sum, day) => sum + day.all, 0);
  const sum = comparable.reduce((total, day) => total + day.reached, 0);
  const daysReached = comparable.filter((day) => day.reached > 0).length;
  return daysReached >= COMMON_DAYS && sum / all >= COMMON_SHARE;
}
