/** Asks the API for the health of nodes while faults happen, as an open page of the UI would. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, signIn } from '../../controller/demo/client.ts';
import type { BenchFleet } from './fleet.ts';
import { clock } from './swarm/messages.ts';
import { HEARTBEAT, type SampleArrays } from './swarm/samples.ts';

export const ADMIN = {
  HEADGATE_ADMIN_EMAIL: 'bench@example.org',
  HEADGATE_ADMIN_PASSWORD: 'of-the-bench',
};
const EVERY_MS = 1_000;

interface Verdict {
  at: number;
  nodeId: string;
}

export interface HealthWatch {
  /** How often the API answered. */
  answers(): number;
  /** Nodes that it called unreachable, each time that it did. */
  verdicts: Verdict[];
  stop(): Promise<void>;
}

/** Every second, the nodes of the next environment. An API that does not answer is asked again. */
export function watchHealth(fleet: BenchFleet, port: number): HealthWatch {
  const verdicts: Verdict[] = [];
  let answers = 0;
  let stopped = false;
  let api: ApiClient | undefined;

  async function ask(turn: number): Promise<void> {
    api ??= await signIn(
      `http://127.0.0.1:${port}`,
      ADMIN.HEADGATE_ADMIN_EMAIL,
      ADMIN.HEADGATE_ADMIN_PASSWORD,
    );
    const environment = fleet.environments[turn % fleet.environments.length]!;
    const at = clock();
    const nodes = await api.query<{ id: string; status: string }[]>('fleet.list', {
      environmentId: environment.id,
    });
    answers += 1;
    for (const { id, status } of nodes) if (status === 'UNREACHABLE') verdicts.push({ at, nodeId: id });
  }

  async function run(): Promise<void> {
    for (let turn = 0; !stopped; turn += 1) {
      const next = sleep(EVERY_MS);
      await ask(turn).catch(() => {});
      await next;
    }
  }
  const ended = run();
  return {
    answers: () => answers,
    verdicts,
    async stop() {
      stopped = true;
      await ended;
    },
  };
}

/** Verdicts over nodes that had a heartbeat accepted within `limitMs` before. */
export function wrongVerdicts(
  fleet: BenchFleet,
  verdicts: readonly Verdict[],
  parts: readonly SampleArrays[],
  limitMs: number,
): number {
  const indexOf = new Map(fleet.nodes.map((node, index) => [node.id, index]));
  const heard = new Map<number, number[]>();
  const accused = new Set(verdicts.map(({ nodeId }) => indexOf.get(nodeId)));
  for (const samples of parts) {
    for (let at = 0; at < samples.kind.length; at += 1) {
      const node = samples.node[at]!;
      if (samples.kind[at] !== HEARTBEAT || samples.status[at] !== 200 || !accused.has(node)) continue;
      const times = heard.get(node) ?? [];
      times.push(samples.ended[at]!);
      heard.set(node, times);
    }
  }
  return verdicts.filter(({ at, nodeId }) =>
    heard.get(indexOf.get(nodeId) ?? -1)?.some((time) => time <= at && at - time < limitMs),
  ).length;
}
