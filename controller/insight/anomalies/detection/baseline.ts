/**
 * What a metric of a pipeline usually is at this hour, by its hours of the past days. Pure.
 *
 * Three models compete: one level at all times, one for each hour of the day, one for each hour of the week. The one that
 * explains the past best is taken. What the last day says moves the expectation, so that growth and a level that has shifted do
 * not raise alarms for ever.
 */
import { deviation, mean, median } from './robust.ts';

export const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** Fewer hours of a day do not say what its level was. */
const MIN_DAY_HOURS = 6;
const WEEK_HOURS = 168;

/** Fewer hours say nothing. */
export const MIN_POINTS = 24;
/** A season is believed after so many of its days or weeks. */
const MIN_CYCLES = 3;
/** A season must explain this much better than the simpler model. */
const SEASON_GAIN = 0.8;
/** Hours of the present level: after them the new one counts as usual. */
const LEVEL_HOURS = 24;
/** After a deploy the level is that of the hours since, once there are so many. */
const LEVEL_HOURS_AFTER_DEPLOY = 6;
/** Of the mean: what a quiet hour counts as where deviations are measured by the level. */
const QUIET_SHARE = 0.2;

export type Season = 'none' | 'day' | 'week';

export interface Expected {
  low: number;
  high: number;
}

export interface Baseline {
  season: Season;
  /** Of the hour before, this one and the next. */
  hours: readonly [Expected, Expected, Expected];
  /** Standard deviation as a share of the level; null where the level is mostly 0. */
  relativeSpread: number | null;
  spread: number;
  /** The level that small deviations are measured by in quiet hours. */
  quietLevel: number;
  /** Hours that it is made of. */
  points: number;
}

const CYCLES: Readonly<Record<Season, number>> = { none: 1, day: DAY_HOURS, week: WEEK_HOURS };

/**
 * `values` are those of whole hours, the oldest first, null where there is none; the last one ended at `end`. `deployedAt` is the
 * last deploy. Null where there are too few.
 */
export function baselineOf(
  values: readonly (number | null)[],
  end: number,
  deployedAt: number | null,
): Baseline | null {
  const points = values.reduce<number>((count, value) => count + (value === null ? 0 : 1), 0);
  if (points < MIN_POINTS) return null;
  const history: History = { values, first: end / HOUR_MS - values.length };
  const fits = (['none', 'day', 'week'] as const)
    .filter((season) => season === 'none' || points >= MIN_CYCLES * CYCLES[season])
    .map((season) => fitModel(modelOf(season, history), history));
  const [simple, ...seasonal] = fits as [Fit, ...Fit[]];
  const best = seasonal.reduce(
    (chosen, one) => (one.error < chosen.error * SEASON_GAIN ? one : chosen),
    simple,
  );
  const { model, relativeSpread, spread } = best;
  const level = levelOf(model, history, end, deployedAt);
  const expectedAt = (hour: number): Expected => {
    const base = model.at(hour);
    return { low: Math.min(base, base * level), high: Math.max(base, base * level) };
  };
  const now = end / HOUR_MS;
  return {
    ...{ season: model.season, relativeSpread, spread, points },
    hours: [expectedAt(now - 1), expectedAt(now), expectedAt(now + 1)],
    quietLevel: QUIET_SHARE * mean(model.levels),
  };
}

interface History {
  values: readonly (number | null)[];
  /** Hours since 1970 of the first value. */
  first: number;
}

interface Model {
  season: Season;
  /** Usual value of an hour since 1970. */
  at(hour: number): number;
  /** By place in the cycle. */
  levels: readonly number[];
  /** How much smaller residuals are than those of a value that the model has not seen. */
  shrinkage: number;
}

function modelOf(season: Season, { values, first }: History): Model {
  const cycle = CYCLES[season];
  const slots: number[][] = Array.from({ length: cycle }, () => []);
  const all: number[] = [];
  values.forEach((value, index) => {
    if (value === null) return;
    slots[(first + index) % cycle]?.push(value);
    all.push(value);
  });
  const whole = median(all);
  const levels = slots.map((slot) => (slot.length === 0 ? whole : median(slot)));
  const perSlot = Math.max(2, all.length / cycle);
  return {
    ...{ season, levels, shrinkage: Math.sqrt((perSlot - 1) / perSlot) },
    at: (hour) => levels[hour % cycle] ?? whole,
  };
}

/** What the hours from `from` to before `to` are in proportion to the model. */
function ratiosOf(model: Model, { values, first }: History, from: number, to: number): number[] {
  const ratios: number[] = [];
  for (let index = Math.max(0, from); index < to; index += 1) {
    const value = values[index] ?? null;
    const usual = model.at(first + index);
    if (value !== null && usual > 0) ratios.push(value / usual);
  }
  return ratios;
}

/** How many times the model the present level is; 1 where too few hours can say. */
function levelOf(model: Model, history: History, end: number, deployedAt: number | null): number {
  const to = history.values.length;
  const sinceDeploy = deployedAt === null ? 0 : Math.floor((end - deployedAt) / HOUR_MS);
  const isNew = sinceDeploy >= LEVEL_HOURS_AFTER_DEPLOY && sinceDeploy < LEVEL_HOURS;
  const hours = isNew ? sinceDeploy : LEVEL_HOURS;
  const ratios = ratiosOf(model, history, to - hours, to);
  return ratios.length < hours / 2 ? 1 : median(ratios);
}

interface Fit extends Pick<Baseline, 'relativeSpread' | 'spread'> {
  model: Model;
  /** Mean of the absolute residuals: a median would not see the hours of a short batch. */
  error: number;
}

/** Residuals of each day are taken around the level of that day: growth is no noise. How days differ from each other counts too. */
function fitModel(model: Model, history: History): Fit {
  const { values, first } = history;
  const relative: number[] = [];
  const absolute: number[] = [];
  const dayLevels: number[] = [];
  for (let to = values.length; to > 0; to -= DAY_HOURS) {
    const ratios = ratiosOf(model, history, to - DAY_HOURS, to);
    const isWhole = ratios.length >= MIN_DAY_HOURS;
    const level = isWhole ? median(ratios) : 1;
    if (isWhole) dayLevels.unshift(level);
    for (const ratio of ratios) relative.push(ratio - level);
    for (let index = Math.max(0, to - DAY_HOURS); index < to; index += 1) {
      const value = values[index] ?? null;
      if (value !== null) absolute.push(value - model.at(first + index) * level);
    }
  }
  return {
    model,
    error: mean(absolute.map(Math.abs)) / model.shrinkage,
    relativeSpread:
      relative.length < absolute.length / 2
        ? null
        : Math.hypot(deviation(relative, 0), deviationOfDays(dayLevels)) / model.shrinkage,
    spread: deviation(absolute, 0) / model.shrinkage,
  };
}

/** Neither growth, which changes each day alike, nor a quiet weekend, which most days do not have, makes it large. */
function deviationOfDays(levels: readonly number[]): number {
  if (levels.length <= MIN_CYCLES) return 0;
  const changes = levels.slice(1).map((level, index) => level - (levels[index] ?? level));
  return Math.min(deviation(changes, median(changes)) / Math.SQRT2, deviation(levels, median(levels)));
}
