import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.ts';

/** Waits until `condition` holds; throws with `what` (asked only then, where it is a function) after `timeoutMs` times PATIENCE. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  {
    what,
    timeoutMs = 15_000,
    everyMs = 5,
  }: { what: string | (() => string); timeoutMs?: number; everyMs?: number },
): Promise<void> {
  const limitMs = timeoutMs * PATIENCE;
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error(`Waited ${limitMs} ms in vain until ${typeof what === 'string' ? what : what()}`);
    await sleep(everyMs);
  }
}
