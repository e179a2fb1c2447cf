/** A whole Headgate of its own for a test: controller, Postgres, two agents, real engines, as `make run` starts them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { relocatedDir } from '../../../controller/database/embedded/location.ts';
import { type ApiClient, signIn } from '../../../controller/demo/client.ts';
import { until } from './until.ts';

export interface RunningHeadgate {
  url: string;
  dataDir: string;
  adminEmail: string;
  adminPassword: string;
  environments: { staging: string; production: string };
  /** With the token in it. */
  cloneUrl: string;
  teamId: string;
  pid: number;
  output(): string;
  api(): Promise<ApiClient>;
  /** Sends the signal, SIGTERM where none is given, and waits for the end. Answers the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** As a terminal that is closed: SIGHUP, and nobody reads on. */
  hangUp(): Promise<number | null>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

export interface StartOptions {
  /** The repository to run, this one unless given. */
  root?: string;
  dataDir?: string;
  port?: number;
  portBase?: number;
  variables?: Record<string, string>;
}

const ownRoot = join(import.meta.dirname, '../../..');

/**
 * Below the ports that the system hands out itself (32768 and up on Linux): there, any server or connection may get one
 * before it is used, or while its owner is away.
 */
const FIRST_PORT = 11_000;
const PORTS = 9_000;
const FIRST_BASE = 20_000;
const BASES = 31;
const BASE_SPAN = 400;
let nextBase = process.pid % BASES;

export async function freePort(): Promise<number> {
  for (let tried = 0; tried < 100; tried += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${FIRST_PORT} on`);
}

/** Two agents take 200 ports each at most, and the last two are for their own metrics. */
export async function freeBase(): Promise<number> {
  for (let tried = 0; tried < BASES; tried += 1) {
    const base = FIRST_BASE + (nextBase++ % BASES) * BASE_SPAN;
    const first = [base, base + 1, base + 200, base + 201, base + 390, base + 391];
    if ((await Promise.all(first.map(isFree))).every(Boolean)) return base;
  }
  throw new Error(`no free ports from ${FIRST_BASE} on`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** A folder for a data directory that Postgres' own user may pass through, where root runs the tests. */
export function temporaryDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-test-'));
  chmodSync(dataDir, 0o711);
  return dataDir;
}

/** All that is set of the environment, beside where the data goes. */
function variablesFor(port: number, portBase: number): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    HEADGATE_PORT: String(port),
    HEADGATE_LOG_LEVEL: 'info',
    // What a push did is to be there when it ends, on a slow machine too.
    HEADGATE_PUSH_WAIT_SECONDS: '30',
    SVC_PORT_BASE: String(portBase),
    SVC_METRICS_PORT: String(portBase + 390),
  };
}

export async function startHeadgate(options: StartOptions = {}): Promise<RunningHeadgate> {
  const root = options.root ?? ownRoot;
  const dataDir = options.dataDir ?? temporaryDataDir();
  const port = options.port ?? (await freePort());
  const portBase = options.portBase ?? (await freeBase());
  const child: ChildProcess = spawn(join(root, 'bin/headgate'), ['demo'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...variablesFor(port, portBase), HEADGATE_DATA_DIR: dataDir, ...options.variables },
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const gone = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => output.includes('Headgate is running.') || gone(), {
    what: () => `Headgate to start:\n${output}`,
    timeoutMs: 60_000,
  });
  if (gone()) throw new Error(`Headgate did not start:\n${output}`);
  const state = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as {
    email: string;
    password: string;
    gitToken: string;
    teamId: string;
    environments: { staging: string; production: string };
  };
  const url = `http://localhost:${port}`;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (!gone()) child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    url,
    dataDir,
    adminEmail: state.email,
    adminPassword: state.password,
    environments: state.environments,
    teamId: state.teamId,
    cloneUrl: `http://git:${state.gitToken}@localhost:${port}/git/config.git`,
    pid: child.pid ?? 0,
    output: () => output,
    api: () => signIn(url, state.email, state.password),
    stop,
    hangUp() {
      child.stdout?.destroy();
      child.stderr?.destroy();
      return stop('SIGHUP');
    },
    async remove() {
      await stop();
      await removeDataDir(dataDir);
    },
  };
}

/** With what lies outside of it, where Postgres cannot enter it. */
export async function removeDataDir(dataDir: string): Promise<void> {
  await rm(relocatedDir(realpathSync(dataDir)), { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
}

/** For starts that are refused: what they say, and the exit code; null when it ran on for a minute and was killed. */
export async function startInVain(
  options: StartOptions & { dataDir: string },
): Promise<{ code: number | null; output: string }> {
  const port = options.port ?? (await freePort());
  const child = spawn(join(options.root ?? ownRoot, 'bin/headgate'), ['demo'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
    env: {
      ...variablesFor(port, options.portBase ?? (await freeBase())),
      HEADGATE_DATA_DIR: options.dataDir,
      ...options.variables,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}
