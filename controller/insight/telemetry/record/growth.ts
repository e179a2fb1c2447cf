/**
 * What was counted between two readings of an engine: to which minute and which hours it belongs. Counters that restart and
 * times without readings are handled here, once. Pure.
 */
import { type Base, type Counters, isSameEngine, type Reading, scaled } from './reading.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** Readings further apart leave a gap: the minutes between them have no points. */
const GAP_MS = 150_000;
/** An engine that is first read at this age or younger is counted from its start. */
const FRESH_SECONDS = 90;
/** What was counted over a longer time is shared among its last hours. */
const MAX_SPREAD_MS = 48 * HOUR_MS;
/** Between two readings. An agent that tells more is wrong, and would spoil the sum. */
const MAX_EXITS = 10_000;
/** What lies further in the future was read before the clock was set back. */
const CLOCK_TOLERANCE_MS = 120_000;

export interface Growth {
  /** The minute of the later reading: what was counted in it, and over how many seconds. */
  minute: {
    start: number;
    seconds: number;
    counters: Counters;
    components: ReadonlyMap<string, Counters>;
    /** Engine processes that ended. */
    exits: number;
  };
  /** All that was counted, shared among the hours between the readings by their length. */
  hours: { start: number; seconds: number; counters: Counters; components: ReadonlyMap<string, Counters> }[];
}

/** The start of the minute that a reading belongs to: at 12:01:00.000 it tells of 12:00. */
export const minuteOf = (time: number): number => Math.floor((time - 1) / MINUTE_MS) * MINUTE_MS;
const hourOf = (time: number): number => Math.floor(time / HOUR_MS) * HOUR_MS;

export const isInFuture = (time: number, now: number): boolean => time - now > CLOCK_TOLERANCE_MS;

/** Whether `reading` is not newer than `base`, and so has nothing to count. */
export const isOld = (base: Base, reading: Base, now: number): boolean =>
  reading.at <= base.at && !isInFuture(base.at, now);

/** Null if nothing can be counted: the reading is old, or nobody knows what came before it. */
export function growthOf(base: Base | null, reading: Reading, now: number): Growth | null {
  if (base && isOld(base, reading, now)) return null;
  const uptimeMs = reading.uptimeSeconds === null ? null : reading.uptimeSeconds * 1_000;
  if (!base) {
    if (uptimeMs === null || uptimeMs > FRESH_SECONDS * 1_000) return null;
    return spread(
      { since: reading.at - Math.max(uptimeMs, 1_000), exits: 0, reading },
      reading.counters,
      reading.components,
    );
  }
  const since = base.at < reading.at ? base.at : reading.at - MINUTE_MS;
  const ended = reading.restarts >= base.restarts ? reading.restarts - base.restarts : reading.restarts;
  const exits = Math.min(ended, MAX_EXITS);
  if (hasRestarted(base, reading)) {
    const from = uptimeMs === null ? since : Math.max(since, reading.at - Math.max(uptimeMs, 1_000));
    return spread({ since: from, exits, reading }, reading.counters, reading.components);
  }
  const before = new Map(base.components);
  const components = reading.components.map(
    ([id, counters]) => [id, difference(before.get(id), counters)] as const,
  );
  return spread({ since, exits, reading }, difference(base.counters, reading.counters), components);
}

/** Counters that are smaller than before belong to another engine, where neither pid nor uptime tells. */
function hasRestarted(base: Base, reading: Reading): boolean {
  if (!isSameEngine(base, reading)) return true;
  const isIdentified = base.pid !== null || (base.uptimeSeconds !== null && reading.uptimeSeconds !== null);
  return !isIdentified && reading.counters.some((value, index) => value < (base.counters[index] ?? 0));
}

/** A running engine may forget a counter, of a component that is gone. */
const difference = (before: Counters | undefined, now: Counters): number[] =>
  now.map((value, index) => Math.max(0, value - (before?.[index] ?? 0)));

function spread(
  { since, exits, reading }: { since: number; exits: number; reading: Reading },
  counters: Counters,
  components: readonly (readonly [string, Counters])[],
): Growth {
  const to = reading.at;
  const from = Math.max(since, to - MAX_SPREAD_MS);
  const length = to - from;
  const start = minuteOf(to);
  const inMinute = length > GAP_MS ? to - Math.max(from, start) : length;
  const share = inMinute / length;
  const whole = { counters, components: new Map(components) };
  const amountsOf = (part: number) =>
    part === 1
      ? whole
      : {
          counters: scaled(counters, part),
          components: new Map(components.map(([id, amounts]) => [id, scaled(amounts, part)])),
        };
  const hours: Growth['hours'] = [];
  for (let hour = hourOf(from); hour < to; hour += HOUR_MS) {
    const part = Math.min(to, hour + HOUR_MS) - Math.max(from, hour);
    hours.push({ start: hour, seconds: part / 1_000, ...amountsOf(part / length) });
  }
  return {
    minute: {
      start,
      seconds: inMinute / 1_000,
      exits,
      ...amountsOf(share),
    },
    hours,
  };
}
