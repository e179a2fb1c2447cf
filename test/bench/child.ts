/** A server under measurement, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/harness/headgate.ts';
import { until } from '../support/harness/until.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface Child {
  port: number;
  pid: number;
  /** SIGTERM or another one, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  isGone(): boolean;
  /** What it has written. */
  output(): string;
}

export interface ControllerOptions {
  variables?: Record<string, string>;
  /** A free one unless given. */
  port?: number;
  /** Where to leave a CPU profile at its end; none is taken otherwise. */
  profileDir?: string | undefined;
}

/** `headgate serve`; resolves with its first healthy answer. */
export async function startController(dataDir: string, options: ControllerOptions = {}): Promise<Child> {
  mkdirSync(dataDir, { recursive: true });
  const port = options.port ?? (await freePort());
  const { NODE_OPTIONS = '' } = process.env;
  const profiling = options.profileDir ? ` --cpu-prof --cpu-prof-dir=${options.profileDir}` : '';
  const child = start(join(ROOT, 'bin/headgate'), ['serve'], {
    HEADGATE_PORT: String(port),
    HEADGATE_DATA_DIR: dataDir,
    HEADGATE_LOG_LEVEL: 'warn',
    NODE_OPTIONS: NODE_OPTIONS + profiling,
    ...options.variables,
  });
  await until(() => child.gone() || isHealthy(port), {
    what: () => `the controller answers:\n${child.output()}`,
    timeoutMs: 60_000,
    everyMs: 2,
  });
  if (child.gone()) throw new Error(`The controller did not start:\n${child.output()}`);
  return { port, pid: child.pid, stop: child.stop, isGone: child.gone, output: child.output };
}

async function isHealthy(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/api/health`).then(
    async (answer) => (await answer.text()) !== '' && answer.ok,
    () => false,
  );
}

/** One of the routes of bare-koa.ts, which prints its port. */
export async function startBare(
  route: 'config' | 'heartbeat',
  variables: Record<string, string>,
): Promise<Child> {
  const script = join(import.meta.dirname, 'bare-koa.ts');
  const child = start(join(ROOT, 'bin/node'), [script, route], variables);
  await until(() => child.gone() || child.output().includes('\n'), {
    what: () => `the bare server listens:\n${child.output()}`,
    timeoutMs: 20_000,
  });
  if (child.gone()) throw new Error(`The bare server did not start:\n${child.output()}`);
  return {
    port: Number(child.output()),
    pid: child.pid,
    stop: child.stop,
    isGone: child.gone,
    output: child.output,
  };
}

function start(command: string, args: string[], variables: Record<string, string>) {
  const { PATH = '', HOME = '', NODE_OPTIONS = '' } = process.env;
  const child: ChildProcess = spawn(command, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, NODE_OPTIONS, ...variables },
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const gone = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    output: () => output,
    gone,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      if (!gone()) child.kill(signal);
      await ended;
    },
  };
}
