/** Every node asks at once, as after an outage: within the same second, and all at the same moment; and many enroll. */
import { signIn } from '../../../controller/demo/client.ts';
import { type Child, startController } from '../child.ts';
import { latenciesOf, statusesOf, statusText } from '../figures.ts';
import { type BenchFleet, makeFleet, NODES } from '../fleet.ts';
import { ADMIN } from '../health-watch.ts';
import { drive } from '../load.ts';
import type { RowOptions } from '../options.ts';
import { enrollRequest } from '../requests.ts';
import { ms, percentile, type Result, type Say, whole } from '../result.ts';
import { startSwarm } from '../swarm/client.ts';
import type { SampleArrays } from '../swarm/samples.ts';

const ENVIRONMENTS = 20;
const ENROLLMENTS = 2_000;
const ENROLL_CONNECTIONS = 1_000;

export async function herd(say: Say, options: RowOptions): Promise<Result[]> {
  const nodes = options.nodes ?? NODES;
  say(`herd: making ${whole(nodes)} nodes …`);
  const fleet = await makeFleet({ nodes, environments: ENVIRONMENTS });
  let controller: Child | undefined;
  const start = async () => {
    await controller?.stop();
    // The database lives on: its caches are not what is meant by cold.
    controller = await startController(fleet.folder, {
      variables: { HEADGATE_DATABASE_URL: fleet.url, HEADGATE_ENROLL_PER_MINUTE: '100000', ...ADMIN },
    });
    return controller;
  };
  try {
    const results: Result[] = [];
    for (const overMs of [1_000, 0]) {
      const { port } = await start();
      const swarm = await startSwarm({ port, nodes: fleet.nodes });
      try {
        for (const caches of ['just started', 'warm'] as const) {
          await swarm.herd(overMs);
          const { samples } = await swarm.report();
          results.push(told(fleet, samples, overMs, caches));
          say(`  ${results.at(-1)?.what}: ${results.at(-1)?.measured}`);
        }
      } finally {
        await swarm.end();
      }
    }
    results.push(await enroll(fleet, await start(), options));
    return results;
  } finally {
    await controller?.stop();
    await fleet.remove();
  }
}

function told(fleet: BenchFleet, samples: SampleArrays, overMs: number, caches: string): Result {
  const all = [...samples.kind.keys()];
  const statuses = statusesOf(samples, all);
  const first = all.reduce((least, at) => Math.min(least, samples.due[at]!), Number.POSITIVE_INFINITY);
  const last = all.reduce((most, at) => Math.max(most, samples.ended[at]!), 0);
  const p99 = percentile(latenciesOf(samples, all), 0.99);
  const when = overMs === 0 ? 'at the same moment' : 'within one second';
  return {
    what: `${whole(fleet.nodes.length)} full config polls ${when}, controller ${caches}`,
    goal: 'all 200',
    measured: `${statusText(statuses)}; p99 ${ms(p99)}, the last after ${ms(last - first)}`,
    ok: statuses.get(200) === fleet.nodes.length,
  };
}

async function enroll(fleet: BenchFleet, controller: Child, options: RowOptions): Promise<Result> {
  const url = `http://127.0.0.1:${controller.port}`;
  const api = await signIn(url, ADMIN.HEADGATE_ADMIN_EMAIL, ADMIN.HEADGATE_ADMIN_PASSWORD);
  const { token } = await api.mutate<{ token: string }>('environment.generateEnrollmentToken', {
    environmentId: fleet.environments[0]?.id,
  });
  const count = Math.min(ENROLLMENTS, options.nodes ?? ENROLLMENTS);
  let turn = 0;
  const { statuses, seconds, latencies } = await drive({
    port: controller.port,
    connections: Math.min(ENROLL_CONNECTIONS, count),
    seconds: 120,
    count,
    next: () => enrollRequest(token, `joiner-${turn++}`),
  });
  const good = (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0);
  return {
    what: `${whole(count)} enrollments with one token at the same moment`,
    goal: 'all accepted',
    measured: `${statusText(statuses)}; p99 ${ms(percentile(latencies, 0.99))}, ${whole(count / seconds)} a second`,
    ok: good === count,
  };
}
