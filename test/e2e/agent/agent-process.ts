import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildAgent } from '../../../agent/build.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { until } from '../../support/harness/until.ts';
import {
  type InProcessAgent,
  type InProcessDeps,
  type RunningAgent,
  startInProcess,
} from './in-process-agent.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** HEADGATE_TEST_DIST: a folder with executables of one's own, taken as they are. */
const GIVEN = process.env.HEADGATE_TEST_DIST;
const DIST = GIVEN ?? join(ROOT, 'dist');
export const AGENT = join(DIST, 'headgate-agent');
export const ENGINE = join(DIST, 'headgate-engine');
export const FAKE_ENGINE = join(import.meta.dirname, 'fake-engine.sh');

let built: Promise<void> | undefined;

/** Builds the agent once a run, where its sources are newer than the executable. */
export function ensureAgent(): Promise<void> {
  built ??= GIVEN === undefined && isStale() ? buildAgent(AGENT) : Promise.resolve();
  return built;
}

function isStale(): boolean {
  if (!existsSync(AGENT)) return true;
  const builtAt = statSync(AGENT).mtimeMs;
  return ['agent', 'schemas/agent', 'reconcilers/loops'].some((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).some(
      (entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > builtAt,
    ),
  );
}

export interface AgentProcess extends RunningAgent {
  child: ChildProcess;
  pid: number;
}

/** By how much `until` moves the clock of agents in this process on, each time that it looks. */
export const PACE_MS = 50;
const LOOK_EVERY_MS = 5;

export interface Workplace {
  dir: string;
  dataDir: string;
  portBase: number;
  /** Of the agents in this process. It stands still but for `until` and the test's own `advance`. */
  clock: ManualClock;
  /** Milliseconds of that clock for one look of `until`: fewer where real engines need real time for their part. */
  paceMs: number;
  /** Waits for a state, and moves the clock on meanwhile. */
  until: typeof until;
  /** Starts an agent in this process. */
  run(env: Record<string, string>, args?: string[], deps?: InProcessDeps): InProcessAgent;
  /**
   * Starts the compiled agent; `under` goes before it, such as a shell line that sets the umask. Only root may have it
   * run as another user.
   */
  runCompiled(env: Record<string, string>, args?: string[], under?: string, uid?: number): AgentProcess;
  /** Pids of the engines that run on this data directory. */
  engines(): number[];
  path(...parts: string[]): string;
  clean(): Promise<void>;
}

/** A folder and a range of ports of its own; `clean` ends whatever still runs in it. */
export async function makeWorkplace(ports = 8): Promise<Workplace> {
  const dir = mkdtempSync(join(tmpdir(), 'headgate-agent-'));
  const dataDir = join(dir, 'data');
  const portBase = await freePorts(ports);
  const compiled: AgentProcess[] = [];
  const inProcess: InProcessAgent[] = [];
  const clock = manualClock();
  const settings = (env: Record<string, string>) => ({
    PATH: '/usr/bin:/bin',
    SVC_DATA_DIR: dataDir,
    SVC_ENGINE_BIN: FAKE_ENGINE,
    SVC_PORT_BASE: String(portBase),
    SVC_METRICS_PORT: '0',
    SVC_LOG_LEVEL: 'debug',
    ...env,
  });
  const workplace: Workplace = {
    dir,
    dataDir,
    portBase,
    clock,
    paceMs: PACE_MS,
    // At a steady pace: what waits less often would have the clock fall behind that of real engines.
    until: (condition, options) =>
      until(
        async () => {
          if (await condition()) return true;
          clock.advance(workplace.paceMs);
          return false;
        },
        { everyMs: LOOK_EVERY_MS, ...options },
      ),
    run(env, args = [], deps) {
      const agent = startInProcess(settings(env), args, clock, deps);
      const { terminate } = agent;
      // What an agent does at its end has limits on the clock too.
      agent.terminate = async () => {
        let over = false;
        void terminate().then(() => {
          over = true;
        });
        await workplace.until(() => over, { what: 'the agent has ended', timeoutMs: 10_000 });
        return agent.ended;
      };
      inProcess.push(agent);
      return agent;
    },
    runCompiled(env, args = [], under, uid) {
      const full = settings(env);
      const [file, argv] = under
        ? ['/bin/sh', ['-c', `${under}; exec "$0" "$@"`, AGENT, ...args]]
        : [AGENT, args];
      const child = spawn(file, argv, { env: full, stdio: ['ignore', 'pipe', 'pipe'], uid, gid: uid });
      let text = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk));
      const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
      const terminate = () => {
        child.kill('SIGTERM');
        return ended;
      };
      const agent = { child, pid: child.pid ?? 0, output: () => text, ended, terminate };
      compiled.push(agent);
      return agent;
    },
    engines: () => pidsNaming(join(dataDir, 'pipelines')),
    path: (...parts) => join(dataDir, ...parts),
    async clean() {
      for (const { child } of compiled) child.kill('SIGKILL');
      await Promise.all(compiled.map(({ ended }) => ended));
      await Promise.all(
        inProcess.map((agent) => {
          agent.killEngines();
          return agent.terminate();
        }),
      );
      for (const pid of pidsNaming(dataDir)) process.kill(-pid, 'SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
  mkdirSync(dir, { recursive: true });
  return workplace;
}

/** Leaders of process groups whose command line names this path. */
function pidsNaming(path: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(path) && isGroupLeader(pid))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function isGroupLeader(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2] === pid;
  } catch {
    return false;
  }
}

/** The first of `count` ports in a row that are free at this moment. */
async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const base = 20_000 + Math.floor(Math.random() * 10_000);
    const tries = await Promise.all(Array.from({ length: count }, (_, index) => isFree(base + index)));
    if (tries.every(Boolean)) return base;
  }
  throw new Error('no free ports found');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    const free = (server.address() as AddressInfo).port === port;
    server.close();
    return free;
  } catch {
    return false;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
