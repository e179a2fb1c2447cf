/** The compiled agent with five real engines at a 5 s poll, and how fast it acts. The scripted server plays controller. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentProcess,
  ENGINE,
  ensureAgent,
  makeWorkplace,
  type Workplace,
} from '../../e2e/agent/agent-process.ts';
import { pipeline, type ScriptedServer, startServer } from '../../e2e/agent/scripted-server.ts';
import { until } from '../../support/harness/until.ts';
import { cpuMs, memoryOf } from '../machine.ts';
import { median, megabytes, ms, type Result, type Say } from '../result.ts';

const IDLE_SECONDS = 60;
const SETTLE_SECONDS = 10;
const STARTS = 5;
const PUSHES = 10;
const FIVE = ['p1', 'p2', 'p3', 'p4', 'p5'].map((id) => pipeline(id));

export async function idleAgent(say: Say): Promise<Result[]> {
  await ensureAgent();
  const server = await startServer();
  const place = await makeWorkplace();
  server.pollIntervalMs = 5_000;
  try {
    say(`agent: ${STARTS} starts, then ${PUSHES} push messages …`);
    const started = await measureStarts(server, place);
    const agent = run(server, place);
    const spawned = await measurePushes(server, agent);
    server.pipelines = FIVE;
    server.push({ type: 'config_changed', reason: 'bench' });
    await until(() => running(server) === 5, { what: 'five engines run', timeoutMs: 30_000 });
    say(`  idle for ${SETTLE_SECONDS} + ${IDLE_SECONDS} s`);
    await sleep(SETTLE_SECONDS * 1_000);
    const before = cpuMs(agent.pid);
    await sleep(IDLE_SECONDS * 1_000);
    const cpuPerMinute = ((cpuMs(agent.pid) - before) * 60) / IDLE_SECONDS;
    const dirty = memoryOf(agent.pid, 'Private_Dirty');
    const resident = memoryOf(agent.pid, 'Rss');
    return [
      memory('agent, 5 engines: private dirty memory', dirty, 10),
      memory('agent, 5 engines: resident memory', resident, 45),
      {
        what: 'agent, 5 engines: CPU a minute at a 5 s poll',
        goal: '≤ 60 ms',
        measured: ms(cpuPerMinute),
        ok: cpuPerMinute <= 60,
      },
      fast('agent: start to the first heartbeat', started, 100),
      fast('agent: push message to the engine process', spawned, 10),
    ];
  } finally {
    await place.clean();
    await server.close();
  }
}

const run = (server: ScriptedServer, place: Workplace): AgentProcess =>
  place.runCompiled({
    SVC_URL: server.url,
    SVC_TOKEN: 'enroll-me',
    SVC_ENGINE_BIN: ENGINE,
    SVC_LOG_LEVEL: 'info',
  });

const running = (server: ScriptedServer): number =>
  server.heartbeats.at(-1)?.pipelines.filter((entry) => entry.status === 'RUNNING').length ?? 0;

/** An agent that is enrolled and has nothing to run yet; the first, which enrolls, does not count. */
async function measureStarts(server: ScriptedServer, place: Workplace): Promise<number[]> {
  const took: number[] = [];
  for (let round = 0; round <= STARTS; round += 1) {
    const before = server.heartbeats.length;
    const startedAt = performance.now();
    const agent = run(server, place);
    await until(() => server.heartbeats.length > before, { what: 'the first heartbeat', everyMs: 1 });
    if (round > 0) took.push(performance.now() - startedAt);
    agent.child.kill('SIGTERM');
    await agent.ended;
  }
  return took;
}

/** Each adds a pipeline, waits for its engine, and takes it away again. */
async function measurePushes(server: ScriptedServer, agent: AgentProcess): Promise<number[]> {
  await until(() => server.pushStreams.length === 1, { what: 'the push stream is open' });
  const took: number[] = [];
  for (let round = 0; round <= PUSHES; round += 1) {
    const id = `pushed-${round}`;
    const seen = logged(agent, `msg="engine started" pipeline=${id} `);
    server.pipelines = [pipeline(id)];
    const pushedAt = performance.now();
    server.push({ type: 'config_changed', reason: 'bench' });
    const at = await seen;
    if (round > 0) took.push(at - pushedAt);
    server.pipelines = [];
    server.push({ type: 'config_changed', reason: 'bench' });
    await until(() => server.heartbeats.at(-1)?.pipelines.length === 0, {
      what: `${id} is gone`,
      timeoutMs: 20_000,
    });
  }
  return took;
}

/** When the agent writes a line with this text. */
function logged(agent: AgentProcess, text: string): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      if (!agent.output().includes(text)) return;
      agent.child.stderr?.off('data', look);
      resolve(performance.now());
    };
    agent.child.stderr?.on('data', look);
  });
}

function memory(what: string, bytes: number, goalMb: number): Result {
  return { what, goal: `≤ ${goalMb} MB`, measured: megabytes(bytes), ok: bytes <= goalMb * 1024 ** 2 };
}

function fast(what: string, sample: readonly number[], goalMs: number): Result {
  const longest = ms(Math.max(...sample));
  return {
    what,
    goal: `< ${goalMs} ms`,
    measured: `median ${ms(median(sample))}, longest of ${sample.length} ${longest}`,
    ok: median(sample) < goalMs,
  };
}
