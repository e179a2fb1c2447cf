/** Nodes in rings with what they report, and rollouts that need not wait for their window. */
import type { ConfigResponse } from '../../../schemas/agent/protocol.ts';
import type { Rollout, RolloutSummary } from '../../../schemas/api/delivery/rollouts.ts';
import { enrollNode, heartbeat, type TestNode } from '../agents/agent-client.ts';
import type { TestController } from '../harness/controller.ts';
import type { TestDb } from '../harness/test-db.ts';
import { until } from '../harness/until.ts';
import type { TestUser } from '../users/person.ts';

export interface RingNode {
  name: string;
  node: TestNode;
  /** By the name of each pipeline that it is told to run, the version. */
  served(): Promise<Record<string, number>>;
  /** Reports that it runs what it is told to, or these versions. */
  report(more?: Record<string, unknown>, versions?: Record<string, number>): Promise<void>;
}

export async function joinRing(
  test: TestController,
  root: TestUser,
  environmentId: string,
  name: string,
  labels: Record<string, string>,
): Promise<RingNode> {
  const { token } = await root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
    environmentId,
  });
  const node = await enrollNode(test.url, token, { hostname: name, labels });
  await node.heartbeat(heartbeat({ labels }));
  await until(async () => (await test.db('node_reports').where({ node_id: node.nodeId })).length > 0, {
    what: `${name} to be heard`,
  });
  const pipelines = async () => (await node.config()).json<ConfigResponse>().pipelines;
  return {
    name,
    node,
    served: async () => Object.fromEntries((await pipelines()).map((one) => [one.pipelineName, one.version])),
    async report(more = {}, versions) {
      const told = await pipelines();
      const rows = told.map(({ pipelineId, pipelineName, version }) => ({
        ...{ pipelineId, version: versions?.[pipelineName] ?? version, status: 'RUNNING', pid: 7 },
        ...{ uptimeSeconds: 3, eventsIn: 0, eventsOut: 0, errorsTotal: 0, restarts: 0, ...more },
      }));
      const answer = await node.heartbeat(heartbeat({ pipelines: rows, labels }));
      if (answer.status !== 200) throw new Error(`heartbeat: ${answer.status} ${answer.text}`);
      await until(
        async () => {
          const stored: { version: number; status: string; restarts: number; events: number }[] = await test
            .db('node_pipelines')
            .where({ node_id: node.nodeId })
            .select('version', 'status', 'restarts', { events: 'events_in' });
          return (
            stored.length === rows.length &&
            rows.every((row) =>
              stored.some(
                (one) =>
                  one.version === row.version &&
                  one.status === row.status &&
                  one.restarts === row.restarts &&
                  one.events === row.eventsIn,
              ),
            )
          );
        },
        { what: `the heartbeat of ${name} to be stored` },
      );
    },
  };
}

/** What every node is told to run of one pipeline; waits until it is this. */
export async function untilServed(
  nodes: readonly RingNode[],
  pipeline: string,
  versions: readonly (number | null)[],
): Promise<void> {
  let seen: (number | null)[] = [];
  await until(
    async () => {
      seen = await Promise.all(nodes.map(async (one) => (await one.served())[pipeline] ?? null));
      return JSON.stringify(seen) === JSON.stringify(versions);
    },
    {
      what: () => `${pipeline} to be served as ${JSON.stringify(versions)}, not ${JSON.stringify(seen)}`,
      // A node may poll 120 times a minute.
      everyMs: 50,
    },
  );
}

/** Asks the loop of the controller to look now. */
export const wakeRollout = (test: TestController, rolloutId: string) =>
  test.controller
    .systemContext('test')
    .services.bus.publish(test.db, { type: 'wake', loop: 'rollouts', key: rolloutId, trigger: 'test' });

/** As if the window had begun that much earlier. */
export const putBackWindow = (db: TestDb, rolloutId: string, minutes: number) =>
  db('rollouts')
    .where({ id: rolloutId })
    .update({ health_started_at: db.raw(`health_started_at - ? * interval '1 minute'`, [minutes]) });

export const activeOf = async (person: TestUser, pipelineId: string): Promise<Rollout | null> =>
  (await person.call<Rollout | null>('query', 'stagedRollout.getActive', { pipelineId })).output ?? null;

export async function lastOf(person: TestUser, pipelineId: string): Promise<RolloutSummary> {
  const [last] = await person.query<RolloutSummary[]>('stagedRollout.list', { pipelineId });
  if (!last) throw new Error('there was no rollout');
  return last;
}

/** Until the newest rollout of the pipeline is in this status. */
export async function untilStatus(
  person: TestUser,
  pipelineId: string,
  status: RolloutSummary['status'],
): Promise<RolloutSummary> {
  let last = await lastOf(person, pipelineId);
  await until(
    async () => {
      last = await lastOf(person, pipelineId);
      return last.status === status;
    },
    { what: () => `the rollout to be ${status}, not ${JSON.stringify(last)}`, everyMs: 20 },
  );
  return last;
}

/** Nodes `node-0`, `node-1` … that differ in their label `ring`. */
export async function joinRings(
  test: TestController,
  root: TestUser,
  environmentId: string,
  count: number,
): Promise<RingNode[]> {
  const nodes: RingNode[] = [];
  for (let ring = 0; ring < count; ring += 1)
    nodes.push(await joinRing(test, root, environmentId, `node-${ring}`, { ring: String(ring) }));
  return nodes;
}
