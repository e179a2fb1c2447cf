/** Runs lines through the original, in a thread that ends when it takes too long. */
import { runInThread } from '../../run-in-thread.ts';
import type { InterpretRequest, OriginalRun } from './interpret.ts';

const LIMIT_MS = 5_000;

/** @throws BAD_REQUEST where it takes too long; what the signal says */
export const replayOriginal = (
  text: string,
  request: InterpretRequest,
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<OriginalRun> =>
  runInThread({
    ...{ script: new URL('./replay-worker.ts', import.meta.url), data: { text, request }, signal },
    limitMs,
    fault: 'The original could not be run',
    late: `The original took longer than ${limitMs / 1000} s for these lines; give fewer or shorter ones, or look for an expression in it that tries too much`,
  });
