/** The procedures behind the long lists of the UI, over HTTP and signed in. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../controller/database/connect.ts';
import { type ApiClient, signIn } from '../../../controller/demo/client.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { CELL_NUMBERS, type FleetMatrix } from '../../../schemas/api/fleet/matrix.ts';
import { writeLargeFleet } from '../../support/scenes/large-fleet.ts';
import { startController } from '../child.ts';
import { addPipeline, makeFleet } from '../fleet.ts';
import { ADMIN } from '../health-watch.ts';
import { drive } from '../load.ts';
import { heartbeatWriter } from '../requests.ts';
import { ms, percentile, type Result, type Say, whole } from '../result.ts';

const SIZES = [1_000, 5_000] as const;
/** In one environment. */
const LARGE = { nodes: 5_000, pipelines: 1_000 } as const;
/** Every node reports every pipeline. */
const MATRIX = { nodes: 5_000, pipelines: 50 } as const;
const MATRIX_CALLS = 7;
/** An answer is shared for a second. */
const OUT_OF_DATE_MS = 1_100;
const GOAL_MS = 20;
const CALLS = 30;
const WARM_UP_CALLS = 5;

export async function lists(say: Say): Promise<Result[]> {
  const results: Result[] = [];
  for (const size of SIZES) {
    say(`lists: ${whole(size)} pipelines, ${whole(size)} nodes …`);
    results.push(await overNodes(size), await overPipelines(size));
  }
  say(`lists: ${whole(LARGE.pipelines)} pipelines and ${whole(LARGE.nodes)} nodes in one environment …`);
  results.push(...(await overBoth()));
  say(`lists: a matrix of ${whole(MATRIX.nodes)} nodes and ${whole(MATRIX.pipelines)} pipelines …`);
  results.push(await overMatrix());
  return results.sort((a, b) => Number(a.ok === null) - Number(b.ok === null));
}

/** Nodes that report five pipelines each. */
async function overNodes(size: number): Promise<Result> {
  const fleet = await makeFleet({ nodes: size });
  try {
    const environmentId = fleet.environments[0]!.id;
    return await serving(fleet, async (api, port) => {
      const write = heartbeatWriter(fleet.environments[0]!.pipelineIds);
      let turn = 0;
      await drive({
        port,
        connections: 16,
        seconds: 60,
        count: size,
        next: () => write(fleet.nodes[turn++ % size]!, turn),
      });
      return time(api, 'fleet.list', environmentId, size);
    });
  } finally {
    await fleet.remove();
  }
}

/** Pipelines that are deployed, in an environment without nodes. */
async function overPipelines(size: number): Promise<Result> {
  const fleet = await makeFleet({ nodes: 0 });
  try {
    const environment = fleet.environments[0]!;
    const db = connect(fleet.url, { poolSize: 1 });
    await db
      .transaction(async (tx) => {
        for (let made = environment.pipelineIds.length; made < size; made += 1)
          await addPipeline(tx, environment.id, `pipeline-${made}`);
      })
      .finally(() => db.destroy());
    return await serving(fleet, (api) => time(api, 'pipeline.list', environment.id, size));
  } finally {
    await fleet.remove();
  }
}

/** Each node reports five pipelines; of the others each selects a label that no node carries. */
async function overBoth(): Promise<Result[]> {
  const fleet = await makeFleet({ nodes: LARGE.nodes });
  try {
    const environment = fleet.environments[0]!;
    const db = connect(fleet.url, { poolSize: 1 });
    await db
      .transaction(async (tx) => {
        for (let made = environment.pipelineIds.length; made < LARGE.pipelines; made += 1)
          await addPipeline(tx, environment.id, `pipeline-${made}`, { slot: `${made % 100}` });
      })
      .finally(() => db.destroy());
    return await serving(fleet, async (api, port) => {
      const write = heartbeatWriter(environment.pipelineIds.slice(0, 5));
      let turn = 0;
      await drive({
        port,
        connections: 16,
        seconds: 60,
        count: LARGE.nodes,
        next: () => write(fleet.nodes[turn++ % LARGE.nodes]!, turn),
      });
      const results: Result[] = [];
      for (const [procedure, size] of [
        ['fleet.list', LARGE.nodes],
        ['fleet.listWithPipelineStatus', LARGE.nodes],
        ['pipeline.list', LARGE.pipelines],
      ] as const) {
        const result = await time(api, procedure, environment.id, size);
        results.push({
          ...result,
          what: `${result.what}; 1,000 pipelines and 5,000 nodes`,
          goal: '',
          ok: null,
        });
      }
      return results;
    });
  } finally {
    await fleet.remove();
  }
}

/** Read anew each time, which is what a page waits for that is opened. */
async function overMatrix(): Promise<Result> {
  const fleet = await makeFleet({ nodes: 0 });
  try {
    const environmentId = newId();
    const db = connect(fleet.url, { poolSize: 1 });
    await (async () => {
      const { team_id } = (await db('environments').first('team_id'))!;
      await db('environments').insert({ id: environmentId, team_id, name: 'matrix' });
      await writeLargeFleet(db, { environmentId, ...MATRIX });
      await db.raw('ANALYZE');
    })().finally(() => db.destroy());
    return await serving(fleet, async (api) => {
      const { nodes } = await api.query<FleetMatrix>('fleet.matrix', { environmentId });
      const cells = nodes.reduce((sum, node) => sum + node.cells.length / CELL_NUMBERS, 0);
      if (cells !== MATRIX.nodes * MATRIX.pipelines) throw new Error(`the matrix had ${cells} cells`);
      const took: number[] = [];
      for (let made = 0; made < MATRIX_CALLS; made += 1) {
        await sleep(OUT_OF_DATE_MS);
        const startedAt = performance.now();
        await (await api.ask('fleet.matrix', { environmentId })).arrayBuffer();
        took.push(performance.now() - startedAt);
      }
      return {
        what: `fleet.matrix over ${whole(MATRIX.nodes)} nodes and ${whole(MATRIX.pipelines)} pipelines, read anew`,
        goal: '',
        measured: `answered p50 ${ms(percentile(took, 0.5))}, longest of ${MATRIX_CALLS} ${ms(Math.max(...took))}`,
        ok: null,
      };
    });
  } finally {
    await fleet.remove();
  }
}

async function serving<T>(
  fleet: { folder: string; url: string },
  use: (api: ApiClient, port: number) => Promise<T>,
): Promise<T> {
  const controller = await startController(fleet.folder, {
    variables: { HEADGATE_DATABASE_URL: fleet.url, ...ADMIN },
  });
  try {
    const url = `http://127.0.0.1:${controller.port}`;
    const api = await signIn(url, ADMIN.HEADGATE_ADMIN_EMAIL, ADMIN.HEADGATE_ADMIN_PASSWORD);
    return await use(api, controller.port);
  } finally {
    await controller.stop();
  }
}

async function time(api: ApiClient, procedure: string, environmentId: string, size: number): Promise<Result> {
  const rows = await api.query<unknown[]>(procedure, { environmentId });
  if (rows.length !== size) throw new Error(`${procedure} answered ${rows.length} rows instead of ${size}`);
  const answered = await timed(async () => (await api.ask(procedure, { environmentId })).arrayBuffer());
  const read = await timed(() => api.query(procedure, { environmentId }));
  const p50 = percentile(answered, 0.5);
  const held = size === SIZES[0];
  return {
    what: `${procedure} over ${whole(size)}`,
    goal: held ? `p50 < ${GOAL_MS} ms` : '',
    measured: `answered p50 ${ms(p50)}, longest of ${CALLS} ${ms(Math.max(...answered))}; with the client's reading p50 ${ms(percentile(read, 0.5))}`,
    ok: held ? p50 < GOAL_MS : null,
  };
}

async function timed(call: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let made = 0; made < WARM_UP_CALLS + CALLS; made += 1) {
    const startedAt = performance.now();
    await call();
    if (made >= WARM_UP_CALLS) took.push(performance.now() - startedAt);
  }
  return took;
}
