/** What a crashed pipeline does next, as far as its report tells. */

/** The agent's longest wait between two starts, in seconds. */
const LONGEST_WAIT_S = 60;

/**
 * The agent waits 1, 2, 4 … 60 s after each failure in a row. A report counts all restarts since the pipeline came to
 * the node, so the wait is at most what as many failures in a row would make.
 */
export function crashText(restarts: number): string {
  if (restarts === 0) return `It could not be started; the agent tries again within ${LONGEST_WAIT_S} s.`;
  const wait = Math.min(2 ** Math.min(restarts - 1, 6), LONGEST_WAIT_S);
  const times = restarts === 1 ? 'once' : `${restarts} times`;
  return `Crashed ${times}, next start within about ${wait} s.`;
}
