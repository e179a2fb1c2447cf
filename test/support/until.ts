import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `condition` holds; throws with `what` (asked only then, where it is a function) after `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  {
    what,
    timeoutMs = 15_000,
    everyMs = 5,
  }: { what: string | (() => string); timeoutMs?: number; everyMs?: number },
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error(`Waited ${timeoutMs} ms in vain until ${typeof what === 'string' ? what : what()}`);
    await sleep(everyMs);
  }
}
