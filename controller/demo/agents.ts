/** The demo's agents: one process each, started and ended with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

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

export async function startAgent(options: AgentOptions): Promise<DemoAgent> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const log = createWriteStream(join(options.dataDir, 'agent.log'), { flags: 'a', mode: 0o600 });
  // In a group of its own: Ctrl-C on the terminal reaches us alone, and we end things in order.
  const child: ChildProcess = spawn(options.binary, [], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...options.environment,
      SVC_URL: options.url,
      SVC_TOKEN: options.token,
      SVC_DATA_DIR: options.dataDir,
      SVC_ENGINE_BIN: options.engineBin,
      SVC_PORT_BASE: String(options.portBase),
      SVC_METRICS_PORT: String(options.metricsPort),
      SVC_NODE_LABELS: options.labels,
    },
  });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  let stopping = false;
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', (code) => {
      log.end();
      if (!stopping) options.onExit(code);
      resolve();
    });
  });
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

/** The first port from `start` on that nobody listens on. */
export async function freePort(start: number): Promise<number> {
  for (let port = start; port < start + 100; port += 1) {
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen({ host: '127.0.0.1', port }, () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error(`no free port from ${start} to ${start + 99}`);
}
