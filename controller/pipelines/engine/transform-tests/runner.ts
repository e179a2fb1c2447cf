/** Runs the tests of transforms: by the engine where there is one that may and can, else by the VRL compiler at hand. */
import { createHash } from 'node:crypto';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import { createVrlPool } from '../vrl/vrl-pool.ts';
import { reasonNotToRun } from './engine-config.ts';
import { runByEngine } from './run-by-engine.ts';
import {
  failed,
  metadataKeyOf,
  skipped,
  TEST_MS,
  TESTS_TOO_LONG,
  TOO_LONG,
  type TransformCase,
  type TransformSuite,
  type Verdict,
} from './test-case.ts';
import { stepOf } from './transform-step.ts';

const CACHED = 5_000;
/** What took too long may have done so because the machine was busy: it is tried again after so long. */
const BUSY_MS = 5 * 60_000;
/** Of the tests of one suite that the VRL compiler plays, in milliseconds: all environments share its thread. */
const PLAYED_MS = 10_000;
/** Each holds some 100 MB. */
const ENGINES_AT_ONCE = 2;

export interface TestRunner {
  /**
   * One verdict a case, in order. `useEngine: false` leaves the engine out, which is a process for every suite. Equal
   * suites are run once.
   */
  testTransforms(
    suite: TransformSuite,
    options: { useEngine: boolean; signal?: AbortSignal },
  ): Promise<Verdict[]>;
  stop(): void;
}

export function createTestRunner({
  engineBin,
  log,
  playedMs = PLAYED_MS,
}: {
  engineBin: string | null;
  log: Logger;
  playedMs?: number;
}): TestRunner {
  const cache = new Map<string, { verdicts: Verdict[]; until: number }>();
  // A thread apart from those in which people try programs.
  const pool = createVrlPool(1);
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < ENGINES_AT_ONCE) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next caller takes over the slot.
      if (next) next();
      else running -= 1;
    }
  }

  async function byEngine(
    bin: string,
    { cases, global }: TransformSuite,
    signal?: AbortSignal,
  ): Promise<Map<number, Verdict> | null> {
    const fit = new Map([...cases.entries()].filter(([, one]) => reasonNotToRun(one, global) === null));
    if (fit.size === 0) return new Map();
    try {
      return await inTurn(() => runByEngine(bin, fit, global, signal));
    } catch (error) {
      signal?.throwIfAborted();
      log.warn({ reason: messageOf(error) }, 'the engine could not be asked to test');
      return null;
    }
  }

  /** What a case cost is added to `spent`, waiting for the thread left out. */
  function byVrl(
    one: TransformCase,
    global: Record<string, unknown>,
    spent: { ms: number },
  ): Promise<Verdict> {
    if (spent.ms > playedMs) return Promise.resolve(skipped(TESTS_TOO_LONG));
    const step = stepOf(one);
    if (typeof step === 'string') return Promise.resolve(skipped(step));
    const { key, port, expect, events } = one;
    const played = { key, port, step, expect, metadataKey: metadataKeyOf(global) };
    return pool.use(async (thread) => {
      const start = performance.now();
      try {
        return await thread.play(played, JSON.stringify(events), TEST_MS);
      } catch (error) {
        return verdictOf(messageOf(error));
      } finally {
        spent.ms += performance.now() - start;
      }
    });
  }

  return {
    async testTransforms(suite, { useEngine, signal }) {
      const bin = useEngine ? engineBin : null;
      const key = createHash('sha256')
        .update(JSON.stringify([bin !== null, suite]))
        .digest('base64');
      const known = cache.get(key);
      if (known && known.until > performance.now()) return known.verdicts;
      const asked = bin === null ? new Map<number, Verdict>() : await byEngine(bin, suite, signal);
      const verdicts: Verdict[] = [];
      const spent = { ms: 0 };
      for (const [index, one] of suite.cases.entries()) {
        signal?.throwIfAborted();
        verdicts.push(asked?.get(index) ?? (await byVrl(one, suite.global, spent)));
      }
      signal?.throwIfAborted();
      if (cache.size >= CACHED) cache.clear();
      const isFirm =
        asked !== null && verdicts.every(({ message }) => message === null || !BUSY.has(message));
      cache.set(key, { verdicts, until: isFirm ? Number.POSITIVE_INFINITY : performance.now() + BUSY_MS });
      return verdicts;
    },
    stop: pool.stop,
  };
}

const NOT_LOADED = 'the VRL compiler could not be loaded';
const BUSY: ReadonlySet<string> = new Set([TOO_LONG, TESTS_TOO_LONG, NOT_LOADED]);

/** A thread that ended while it ran a test. */
function verdictOf(reason: string): Verdict {
  if (reason === `VRL took longer than ${TEST_MS / 1000} s`) return failed(TOO_LONG);
  if (/unreachable|memory/i.test(reason)) {
    return failed(
      'it needed more memory than it may have, or met a fault of VRL, and was ended; try it on a smaller event',
    );
  }
  return skipped(NOT_LOADED);
}
