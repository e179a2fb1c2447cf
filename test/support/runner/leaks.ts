/** What a test file left behind in its worker. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from '../harness/patience.ts';
import { childrenOf, commandLineOf } from './processes.ts';
import { isKept, keptListenersOf, PROCESS_EVENTS } from './warm.ts';

/** Resources that keep a process alive, as `process.getActiveResourcesInfo()` calls them. */
const WATCHED = ['TCPServerWrap', 'FSEventWrap', 'StatWatcher', 'Timeout'] as const;
/** A `git cat-file` that nobody asks any more ends by itself after 20 s. */
const SETTLE_MS = 25_000 * PATIENCE;
const EVERY_MS = 20;
/** The controller's code starts git by a process that lives as long as this one (`git-starter.ts`). */
const LASTING = /git-starter\.ts/;

interface State {
  directory: string;
  variables: Readonly<Record<string, string | undefined>>;
  resources: ReadonlyMap<string, number>;
  listeners: ReadonlyMap<string, number>;
  children: ReadonlySet<number>;
}

export function takeState(): State {
  const active = process.getActiveResourcesInfo();
  return {
    directory: process.cwd(),
    variables: { ...process.env },
    resources: new Map(WATCHED.map((type) => [type, active.filter((one) => one === type).length])),
    listeners: new Map(
      PROCESS_EVENTS.map((event) => [event, process.listenerCount(event) - keptListenersOf(event)]),
    ),
    children: new Set(
      childrenOf(process.pid).filter((pid) => !isKept(pid) && !LASTING.test(commandLineOf(pid))),
    ),
  };
}

/** Waits until the worker is as it was before the file. Answers what is left; puts the environment back. */
export async function findLeaks(before: State): Promise<string[]> {
  const deadline = performance.now() + SETTLE_MS;
  let left = openResources(before, takeState());
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(EVERY_MS);
    left = openResources(before, takeState());
  }
  return [...left, ...restoreEnvironment(before)];
}

function openResources(before: State, now: State): string[] {
  const children = [...now.children].filter((pid) => !before.children.has(pid));
  return [
    ...children.map((pid) => `a process that still runs: ${pid} ${commandLineOf(pid)}`),
    ...increases(before.resources, now.resources, 'open'),
    ...increases(before.listeners, now.listeners, 'listeners of process'),
  ];
}

function increases(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>, what: string) {
  return [...now]
    .map(([name, count]) => ({ name, more: count - (before.get(name) ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ name, more }) => `${what}: ${more} × ${name}`);
}

function restoreEnvironment({ directory, variables }: State): string[] {
  const left: string[] = [];
  if (process.cwd() !== directory) {
    left.push('another working directory');
    process.chdir(directory);
  }
  for (const name of new Set([...Object.keys(variables), ...Object.keys(process.env)])) {
    const value = variables[name];
    if (process.env[name] === value) continue;
    left.push(`another value of the environment variable ${name}`);
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return left;
}
