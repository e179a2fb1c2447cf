/**
 * For properties whose every run takes long, on repositories and databases: a few runs, the same each time, so that nobody's
 * change fails for another's fault. `HEADGATE_TEST_SEED=random HEADGATE_TEST_RUNS=200` looks for new ones; what fails prints
 * the seed that replays it.
 */
export function longProperty(numRuns: number): { numRuns: number; seed?: number } {
  const { HEADGATE_TEST_SEED: seed = '1', HEADGATE_TEST_RUNS: runs = numRuns } = process.env;
  return { numRuns: Number(runs), ...(seed === 'random' ? {} : { seed: Number.parseInt(seed, 10) }) };
}
