/** The demo's agents: one process each, started and ended with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../reconcilers/loops/backoff.ts';
import { messageOf } from '../platform/operation/errors.ts';
import { recordProcess, runningProcess } from '../platform/runtime/process-record.ts';

export interface DemoAgent {
  name: string;
  stop(): Promise<void>;
}

export interface AgentOptions {
  name: string;
  binary: string;
  url: string;
  token: string;
  dataDir: string;
  engineBin: string;
  portBase: number;
  metricsPort: number;
  labels: string;
  environment: Record<string, string>;
  /** Called when the agent ends without being asked to. */
  onExit(code: number | null): void;
}

/** Engines are given 30 s to end, the agent a little more. */
const STOP_LIMIT_MS = 35_000;

const END_POLL_MS = 20;

const pidFile = (dataDir: string) => join(dataDir, 'agent.pid');

export async function startAgent(options: AgentOptions): Promise<DemoAgent> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const log = await open(join(options.dataDir, 'agent.log'), 'a', 0o600);
  // In a group of its own: Ctrl-C on the terminal reaches us alone, and we end things in order. It writes to the file
  // itself: through a pipe to us, it would end with us, and leave its engines behind.
  const child: ChildProcess = spawn(options.binary, [], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      ...options.environment,
      SVC_URL: options.url,
      SVC_TOKEN: options.token,
      SVC_DATA_DIR: options.dataDir,
      SVC_ENGINE_BIN: options.engineBin,
      SVC_PORT_BASE: String(options.portBase),
      SVC_METRICS_PORT: String(options.metricsPort),
      SVC_METRICS_HOST: '127.0.0.1',
      SVC_NODE_LABELS: options.labels,
      // One that comes back from a failed update on its own would not end with the demo.
      SVC_SUPERVISED: '1',
    },
  });
  if (child.pid !== undefined) recordProcess(pidFile(options.dataDir), child.pid);
  let stopping = false;
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', (code) => {
      rmSync(pidFile(options.dataDir), { force: true });
      if (!stopping) options.onExit(code);
      resolve();
    });
  });
  await log.close();
  return {
    name: options.name,
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(force);
    },
  };
}

const restartDelay = backoff({ firstMs: 1_000, capMs: 60_000 });
/** One that lived this long has not failed again: its count starts over. */
const LIVED_MS = 60_000;

/** Starts an agent, and starts it again whenever it ends by itself, as systemd would. */
export async function keepAgent(
  options: Omit<AgentOptions, 'onExit'>,
  say: (line: string) => void,
): Promise<DemoAgent> {
  let failures = 0;
  let stopping = false;
  let waiting: NodeJS.Timeout | undefined;
  let starting: Promise<DemoAgent>;
  const start = (): Promise<DemoAgent> => {
    const startedAt = performance.now();
    starting = startAgent({
      ...options,
      onExit: (code) => {
        failures = performance.now() - startedAt > LIVED_MS ? 1 : failures + 1;
        const delay = restartDelay(failures);
        say(
          `The agent of ${options.name} ended (${code ?? 'by a signal'}) and is started again in ${delay / 1_000} s; its log: ${join(options.dataDir, 'agent.log')}`,
        );
        waiting = setTimeout(() => {
          if (!stopping) start().catch((error: unknown) => say(messageOf(error)));
        }, delay);
      },
    });
    return starting;
  };
  const { name } = await start();
  return {
    name,
    async stop() {
      stopping = true;
      clearTimeout(waiting);
      await (await starting.catch(() => null))?.stop();
    },
  };
}

/**
 * Ends the agents below a folder that a run which was killed left behind, and with them their engines: they hold their
 * data directories, which a new start needs.
 */
export async function endEarlierAgents(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.map((name) => endEarlierAgent(pidFile(join(folder, name)))));
}

async function endEarlierAgent(file: string): Promise<void> {
  const pid = runningProcess(file);
  if (pid !== null) process.kill(pid, 'SIGTERM');
  const killAt = performance.now() + STOP_LIMIT_MS;
  while (pid !== null && runningProcess(file) === pid) {
    if (performance.now() > killAt) process.kill(pid, 'SIGKILL');
    await sleep(END_POLL_MS);
  }
  rmSync(file, { force: true });
}
