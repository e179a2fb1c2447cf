import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.ts';

/** What takes long is looked at less often: a condition may be a request, and costs as much as what it waits for. */
const SLOWEST_MS = 50;
const SLOWDOWN = 1.15;

/**
 * Waits until `condition` holds; throws with `what` (asked only then, where it is a function) after `timeoutMs` times PATIENCE.
 * `everyMs` looks that often and no less.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  {
    what,
    timeoutMs = 15_000,
    everyMs,
  }: { what: string | (() => string); timeoutMs?: number; everyMs?: number },
): Promise<void> {
  const limitMs = timeoutMs * PATIENCE;
  const deadline = Date.now() + limitMs;
  let pauseMs = everyMs ?? 5;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error(`Waited ${limitMs} ms in vain until ${typeof what === 'string' ? what : what()}`);
    await sleep(pauseMs);
    if (everyMs === undefined) pauseMs = Math.min(SLOWEST_MS, pauseMs * SLOWDOWN);
  }
}
