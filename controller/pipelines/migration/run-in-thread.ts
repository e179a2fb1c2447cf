/** Work on texts from outside that may take long, in a thread that is ended after a time: the controller goes on meanwhile. */
import { Worker } from 'node:worker_threads';
import { badRequest, messageOf, unavailable } from '../../platform/operation/errors.ts';

const HEAP_MB = 128;
/** On a machine under load, reading the modules takes longer than most work does. */
const LOADING_MS = 60_000;
/** What a script posts when its modules are there and the work begins. */
export const LOADED = 'loaded';

export interface ThreadWork {
  /** Posts two messages: `LOADED`, and the result. */
  script: URL;
  data: unknown;
  signal: AbortSignal;
  /** Of the work alone. */
  limitMs: number;
  /** Begins the messages of faults: `The original could not be run`. */
  fault: string;
  /** What the user reads when the time is over. */
  late: string;
}

/** @throws BAD_REQUEST where it takes too long; what the signal says */
export function runInThread<T>({ script, data, signal, limitMs, fault, late }: ThreadWork): Promise<T> {
  const worker = new Worker(script, {
    ...{ name: 'fluentd', workerData: data },
    // Nothing of the controller's own is in reach, and what is printed goes nowhere.
    ...{ env: {}, stdout: true, stderr: true },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return new Promise<T>((resolve, reject) => {
    const limit = (ms: number) => setTimeout(() => reject(badRequest(late)), ms);
    let timer = limit(LOADING_MS);
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    worker.on('message', (message) => {
      clearTimeout(timer);
      if (message === LOADED) timer = limit(limitMs);
      else resolve(message);
    });
    worker.once('error', (error) => reject(unavailable(`${fault}: ${messageOf(error)}`)));
    worker.once('exit', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      reject(unavailable(`${fault}: its thread ended; try again`));
    });
  }).finally(() => worker.terminate());
}
