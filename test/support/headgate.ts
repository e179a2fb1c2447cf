/** A whole Headgate of its own for a test: controller, Postgres, two agents, real engines, as `make run` starts them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiClient, signIn } from '../../controller/demo/client.ts';
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
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

export interface StartOptions {
  dataDir?: string;
  port?: number;
  portBase?: number;
  variables?: Record<string, string>;
}

const root = join(import.meta.dirname, '../..');

export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

let nextBase = 21_000 + (process.pid % 60) * 400;

export async function startHeadgate(options: StartOptions = {}): Promise<RunningHeadgate> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'headgate-test-'));
  const port = options.port ?? (await freePort());
  const portBase = options.portBase ?? nextBase;
  nextBase += 400;
  const child: ChildProcess = spawn(join(root, 'bin/headgate'), ['demo'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HEADGATE_PORT: String(port),
      HEADGATE_DATA_DIR: dataDir,
      HEADGATE_LOG_LEVEL: 'info',
      SVC_PORT_BASE: String(portBase),
      SVC_METRICS_PORT: String(portBase + 390),
      ...options.variables,
    },
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
  const stop = async () => {
    if (!gone()) child.kill('SIGTERM');
    await ended;
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
    async remove() {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
