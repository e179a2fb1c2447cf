/** `headgate serve`, as a process or in this one. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { readConfig } from '../../../controller/config.ts';
import { startController } from '../../../controller/main.ts';
import { LOCAL_TARGETS } from '../fixtures/local-targets.ts';
import { CHEAP } from '../users/passwords.ts';
import { ROOT } from './controller.ts';
import { freePort } from './headgate.ts';
import { recordedLog } from './recorded-log.ts';
import { until } from './until.ts';

export interface Replica {
  url: string;
  pid: number;
  output(): string;
  /** Whether it listens; false for one that has ended. */
  up(): boolean;
  /** Waits until it has ended, after the signal where one is given. Answers the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ServeOptions {
  port?: number;
  /** More of the environment. */
  variables?: Record<string, string>;
}

const variablesOf = (
  dataDir: string,
  port: number,
  { variables }: ServeOptions,
): Readonly<Record<string, string>> => ({
  PATH: process.env.PATH ?? '',
  HEADGATE_PORT: String(port),
  HEADGATE_DATA_DIR: dataDir,
  HEADGATE_LOG_LEVEL: 'info',
  HEADGATE_ADMIN_EMAIL: ROOT.email,
  HEADGATE_ADMIN_PASSWORD: ROOT.password,
  HEADGATE_PRIVATE_TARGETS: LOCAL_TARGETS.join(),
  // What a push did is to be there when it ends, on a slow machine too.
  HEADGATE_PUSH_WAIT_SECONDS: '10',
  ...variables,
});

/** In this process, set up by the same variables: what need not be ended by a signal starts in a tenth of the time. */
export async function serveInProcess(dataDir: string, options: ServeOptions = {}): Promise<Replica> {
  const port = options.port ?? (await freePort());
  const { log, text } = recordedLog('info');
  const controller = await startController(readConfig(variablesOf(dataDir, port, options)), {
    log,
    passwordCost: CHEAP,
  });
  let ended: Promise<void> | null = null;
  return {
    url: `http://127.0.0.1:${port}`,
    pid: process.pid,
    output: text,
    up: () => ended === null,
    async end() {
      ended ??= controller.stop();
      await ended;
      return 0;
    },
  };
}

/** Started, and left to itself: `untilUp` waits. */
export async function serve(dataDir: string, options: ServeOptions = {}): Promise<Replica> {
  const port = options.port ?? (await freePort());
  const child = spawn(join(import.meta.dirname, '../../../bin/headgate'), ['serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: variablesOf(dataDir, port, options),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const gone = () => child.exitCode !== null || child.signalCode !== null;
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    output: () => output,
    up: () => !gone() && output.includes('Headgate listens'),
    async end(signal) {
      if (signal && !gone()) child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}

export async function untilUp(...replicas: Replica[]): Promise<void> {
  await until(() => replicas.every((one) => one.up()), {
    what: () => `all to listen:\n${replicas.map((one) => one.output()).join('\n---\n')}`,
    timeoutMs: 30_000,
  });
}
