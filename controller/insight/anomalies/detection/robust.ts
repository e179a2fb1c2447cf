/** Statistics that a few outliers do not move. Pure. */

/** Of a normal distribution, the median absolute deviation times this is the standard deviation. */
const MAD_TO_SIGMA = 1.4826;

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Deviation around `center`, on the scale of a standard deviation; 0 of nothing. */
export const deviation = (values: readonly number[], center: number): number =>
  values.length === 0 ? 0 : MAD_TO_SIGMA * median(values.map((value) => Math.abs(value - center)));

/** Neighbours are alike: those so far apart show how much values vary. */
const LAG = 3;
const MIN_DIFFERENCES = 4;

/**
 * How much values vary that follow each other, as the deviation of a single one: a level that shifts once, or moves slowly, does
 * not widen it.
 */
export function shortTermDeviation(values: readonly (number | null)[]): number {
  const differences: number[] = [];
  for (let index = LAG; index < values.length; index += 1) {
    const [before, now] = [values[index - LAG] ?? null, values[index] ?? null];
    if (before !== null && now !== null) differences.push(now - before);
  }
  return differences.length < MIN_DIFFERENCES ? 0 : deviation(differences, 0) / Math.SQRT2;
}

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
