/** Tries programs on events: two at a time, each in a thread of its own, so that one that hangs harms no other. */
import { DomainError, messageOf } from '../../../platform/operation/errors.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import type { Program } from '../checks.ts';
import type { PlayedTransform } from '../transform-tests/play-case.ts';
import type { TransformRun, TypedEvent } from '../transform-tests/run-transform.ts';
import { createVrlPool } from './vrl-pool.ts';
import type { VrlTest } from './vrl-test.ts';
import type { VrlThread } from './vrl-thread.ts';

const THREADS = 2;
const RUN_MS = 5_000;
const MAX_WAITING = 30;
const MAX_PER_CALLER = 4;

export interface VrlTester {
  /** `event` is the JSON of an object. `caller` may have four under way. Throws TOO_MANY_REQUESTS beyond that. */
  test(program: Program, event: string, caller: string): Promise<VrlTest>;
  /** Counts as one that is under way. */
  run(transform: PlayedTransform, events: readonly TypedEvent[], caller: string): Promise<TransformRun>;
  stop(): void;
}

export function createVrlTester(log: Logger): VrlTester {
  const pool = createVrlPool(THREADS);
  const underWay = new Map<string, number>();

  async function inThread<T>(
    work: (thread: VrlThread) => Promise<T>,
    ended: (reason: string) => T,
  ): Promise<T> {
    if (pool.waiting >= MAX_WAITING) {
      throw new DomainError('TOO_MANY_REQUESTS', 'Many programs are being tried; try again in a moment');
    }
    return pool.use(async (thread) => {
      try {
        return await work(thread);
      } catch (error) {
        const reason = messageOf(error);
        log.info({ reason }, 'a program that was tried has ended its thread');
        return ended(explain(reason));
      }
    });
  }

  async function counted<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const count = underWay.get(caller) ?? 0;
    if (count >= MAX_PER_CALLER) {
      throw new DomainError(
        'TOO_MANY_REQUESTS',
        'Four of your programs are being tried; wait for one of them',
      );
    }
    underWay.set(caller, count + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(caller) ?? 1) - 1;
      if (left === 0) underWay.delete(caller);
      else underWay.set(caller, left);
    }
  }

  return {
    test: (program, event, caller) =>
      counted(caller, () =>
        inThread(
          (thread) => thread.test(program, event, RUN_MS),
          (error) => ({ ...FAILED, error }),
        ),
      ),
    run: (transform, events, caller) =>
      counted(caller, () =>
        inThread<TransformRun>(
          (thread) => thread.run(transform, JSON.stringify(events), RUN_MS),
          (reason) => ({ status: 'unknown', reason }),
        ),
      ),
    stop: pool.stop,
  };
}

const FAILED: Omit<VrlTest, 'error'> = {
  success: false,
  output: null,
  result: null,
  dropped: false,
  dropReason: null,
  diagnostics: [],
};

function explain(reason: string): string {
  if (reason.includes('longer than')) {
    return `The program ran longer than ${RUN_MS / 1000} s and was ended; try it on a smaller event`;
  }
  if (/unreachable|memory/i.test(reason)) {
    return 'The program needed more memory than it may have, or met a fault of VRL, and was ended; try it on a smaller event';
  }
  return `The program was ended: ${reason}`;
}
