/**
 * By how much every limit of a wait is longer where suites share a machine: none is what a test is about, and a machine
 * with other work to do must fail nothing. The reporter lengthens the limits of tests and hooks by the same.
 */
export const PATIENCE = Number(process.env.HEADGATE_TEST_PATIENCE ?? 1);

/** Of a browser's own waits, in milliseconds. */
export const BROWSER_WAIT_MS = 20_000 * PATIENCE;

/** A bound of time that tells a hang or a square law from work, in milliseconds: as patient as every wait. */
export const patient = (ms: number): number => ms * PATIENCE;

/** What this thread has worked so far, in milliseconds: other work of the machine does not count. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
