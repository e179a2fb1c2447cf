import { setImmediate as nextTurn } from 'node:timers/promises';

/** Other work of the process gets its turn after this long. */
const MAX_TURN_MS = 8;

/** To be awaited between small pieces of a long work; it waits only when the turn has become long. */
export function createYielder(): () => Promise<void> | undefined {
  let turn = performance.now();
  return () => {
    if (performance.now() - turn < MAX_TURN_MS) return undefined;
    return nextTurn().then(() => {
      turn = performance.now();
    });
  };
}
