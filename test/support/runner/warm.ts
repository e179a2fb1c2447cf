/**
 * Resources that stay open from file to file: the session on the test database, a browser. A worker of `test/run.ts` closes
 * them when it ends; a plain `mocha` run closes them after its last case.
 */
import { childrenOf } from './processes.ts';

type Close = () => Promise<void>;

const closers = new Map<string, Close>();
const pids = new Set<number>();
let inWorker = false;

/** Called by the worker before it loads a test file. */
export function enterWorker(): void {
  inWorker = true;
}

/** Call it at the top level of a support module: a mocha hook can only be registered while files load. */
export function closeAtEnd(name: string, close: Close): void {
  if (inWorker) closers.set(name, close);
  else if (typeof after === 'function')
    after(name, async function () {
      this.timeout(60_000);
      await close();
    });
}

/** Runs work that starts what files share: the processes and the listeners of `process` that it adds are no leak. */
export async function keeping<T>(start: () => Promise<T>): Promise<T> {
  const children = new Set(childrenOf(process.pid));
  const before = new Map(PROCESS_EVENTS.map((event) => [event, process.listenerCount(event)]));
  try {
    return await start();
  } finally {
    for (const pid of childrenOf(process.pid)) if (!children.has(pid)) pids.add(pid);
    for (const event of PROCESS_EVENTS) {
      const added = process.listenerCount(event) - (before.get(event) ?? 0);
      keptListeners.set(event, keptListenersOf(event) + added);
    }
  }
}

export const PROCESS_EVENTS = [
  'exit',
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'uncaughtException',
  'unhandledRejection',
] as const;
type ProcessEvent = (typeof PROCESS_EVENTS)[number];
const keptListeners = new Map<ProcessEvent, number>();
export const keptListenersOf = (event: ProcessEvent): number => keptListeners.get(event) ?? 0;

export const isKept = (pid: number): boolean => pids.has(pid);

export async function closeAll(): Promise<void> {
  await Promise.allSettled([...closers.values()].map((close) => close()));
}
