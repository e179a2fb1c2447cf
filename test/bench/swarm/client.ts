/** Starts the swarm and gives it orders. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SwarmAnswer, SwarmOrder, SwarmPlan, SwarmReport } from './messages.ts';

export interface Swarm {
  pid: number;
  steady(): void;
  /** Resolves when the last one is answered. */
  herd(overMs: number): Promise<void>;
  /** Resolves when all that was begun has ended. */
  halt(): Promise<void>;
  /** What was measured since the last report. */
  report(): Promise<SwarmReport>;
  end(): Promise<void>;
}

/** Open files: most systems let a process have many more, some have a low hard limit. */
const MOST_CONNECTIONS = 10_000;
const PERIOD_MS = 5_000;

export async function startSwarm(
  plan: Pick<SwarmPlan, 'port' | 'nodes'> & Partial<SwarmPlan>,
): Promise<Swarm> {
  const child = fork(join(import.meta.dirname, 'program.ts'), [], {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { PATH: process.env.PATH ?? '' },
  });
  const ended = once(child, 'exit');
  const ask = (order: SwarmOrder) => answered(child, order);
  await ask({
    order: 'plan',
    plan: {
      connections: Math.min(MOST_CONNECTIONS, plan.nodes.length),
      streams: 0,
      periodMs: PERIOD_MS,
      ...plan,
    },
  });
  return {
    pid: child.pid ?? 0,
    steady: () => void child.send({ order: 'steady' } satisfies SwarmOrder),
    herd: async (overMs) => void (await ask({ order: 'herd', overMs })),
    halt: async () => void (await ask({ order: 'halt' })),
    async report() {
      const report = await ask({ order: 'report' });
      if (report.done !== 'report') throw new Error(`the swarm answered ${report.done} instead of a report`);
      return report;
    },
    async end() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

async function answered(child: ChildProcess, order: SwarmOrder): Promise<SwarmAnswer> {
  const listening = new AbortController();
  const { signal } = listening;
  const answer = once(child, 'message', { signal });
  const gone = once(child, 'exit', { signal }).then(() => {
    throw new Error('the swarm has ended');
  });
  child.send(order);
  try {
    const [message] = await Promise.race([answer, gone]);
    return message as SwarmAnswer;
  } finally {
    for (const one of [answer, gone]) one.catch(() => {});
    listening.abort();
  }
}
