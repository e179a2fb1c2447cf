/** Nodes that are silent for long: archived by a setting of their environment, and back with the next call of their agent. */
import { expect } from 'chai';
import { archiveSilentNodes } from '../../../controller/fleet/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type { Environment } from '../../../schemas/api/fleet/environments.ts';
import type { FleetNode, NodeSummary } from '../../../schemas/api/fleet/fleet.ts';
import type { DeploymentStatus } from '../../../schemas/api/pipelines/deployments.ts';
import {
  enrollNode,
  enrollRequest,
  heartbeat,
  type TestNode,
  tryEnroll,
} from '../../support/agents/agent-client.ts';
import { drawPipeline, soundGraph } from '../../support/fixtures/graphs.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken } from '../../support/scenes/places.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

const DAY_MS = 86_400_000;
/** The controller has listened for long enough to know who is silent. */
const LATER_MS = 20 * 60_000;

describe('nodes that are silent for long', () => {
  const test = useController();
  const root = useRoot(test);
  let environmentId: string;
  let token: string;
  let made = 0;

  beforeEach(async () => {
    ({ environmentId } = await testEnvironment(root, `silence ${++made}`));
    token = await enrollmentToken(root, environmentId);
  });

  const set = (change: object) =>
    root.mutate<Environment>('environment.update', { id: environmentId, ...change });
  const see = () => root.query<Environment>('environment.get', { id: environmentId });
  const list = async (more: object = {}) =>
    (await root.query<NodeSummary[]>('fleet.list', { environmentId, ...more })).map(({ id }) => id);
  const events = (action: string, id: string) =>
    test.db('audit_log').where({ action, entity_id: id }).select('actor_type', 'environment_id', 'metadata');

  /** Enrolled, and heard of so many days ago. */
  async function silentNode(days: number): Promise<TestNode> {
    const node = await enrollNode(test.url, token, { hostname: `silent-${++made}` });
    await node.heartbeat(heartbeat());
    await until(async () => (await test.db('node_reports').where({ node_id: node.nodeId })).length > 0, {
      what: 'the heartbeat to be stored',
    });
    const at = new Date(Date.now() - days * DAY_MS);
    await test.db('nodes').where({ id: node.nodeId }).update({ enrolled_at: at });
    await test.db('node_presence').where({ node_id: node.nodeId }).update({ heard_at: at });
    return node;
  }
  const archive = (more: Partial<Context> = {}) =>
    archiveSilentNodes({
      ...test.controller.systemContext('silent nodes'),
      clock: manualClock(Date.now() + LATER_MS),
      ...more,
    });
  const isBack = ({ nodeId }: TestNode) =>
    until(async () => (await list()).includes(nodeId), { what: 'the node to be back' });

  it('are archived after 30 days: they stay with what they said, and count nowhere', async () => {
    expect((await set({ maxNodes: 2 })).archiveNodesAfterDays).to.equal(30);
    const [silent, heard] = [await silentNode(31), await silentNode(29)];
    expect(await archive()).to.equal(1);
    expect(await list()).to.deep.equal([heard.nodeId]);
    expect(await list({ includeArchived: true })).to.deep.equal([heard.nodeId, silent.nodeId]);
    expect((await see()).nodeCount).to.equal(1);
    const node = await root.query<FleetNode>('fleet.get', { id: silent.nodeId });
    expect(node.archivedAt).to.not.equal(null);
    const [event] = await events('node.archived', silent.nodeId);
    expect(event).to.include({ actor_type: 'system', environment_id: environmentId });
    expect(event.metadata).to.include({ name: node.name, afterDays: 30 });
    // Its place under the limit is free.
    expect((await tryEnroll(test.url, enrollRequest(token, { hostname: 'next' }))).status).to.equal(200);
    expect((await tryEnroll(test.url, enrollRequest(token, { hostname: 'third' }))).status).to.equal(403);
    expect(await archive()).to.equal(0);
  });

  for (const { call, by } of [
    { call: 'heartbeat', by: (node: TestNode) => node.heartbeat(heartbeat()) },
    { call: 'poll', by: (node: TestNode) => node.config() },
  ])
    it(`come back with a ${call}, also above the limit, which the event says then`, async () => {
      const node = await silentNode(31);
      await archive();
      await set({ maxNodes: 1 });
      await enrollNode(test.url, token, { hostname: 'in-between' });
      // The directory has heard that it is archived.
      await until(async () => (await by(node)).status < 400 && (await list()).includes(node.nodeId), {
        what: 'the node to be back',
      });
      await isBack(node);
      expect((await see()).nodeCount).to.equal(2);
      const [event, ...more] = await events('node.unarchived', node.nodeId);
      expect(more).to.deep.equal([]);
      expect(event).to.include({ actor_type: 'system', environment_id: environmentId });
      expect(event.metadata).to.include({ nodeCount: 2, maxNodes: 1 });
      // One that polls and sends no heartbeat is not archived again at once.
      expect(await archive()).to.equal(0);
    });

  it('are not waited for: no pipeline, no group and no drift tells of them', async () => {
    const [silent, heard] = [await silentNode(31), await silentNode(0)];
    const { id: pipelineId } = await drawPipeline(root, environmentId, soundGraph());
    await root.mutate('deploy.agent', { pipelineId, changelog: 'first' });
    const nodes = async () =>
      (await root.query<DeploymentStatus>('pipeline.deploymentStatus', { pipelineId })).nodes
        .map(({ nodeId }) => nodeId)
        .sort();
    expect(await nodes()).to.deep.equal([heard.nodeId, silent.nodeId].sort());
    await archive();
    expect(await nodes()).to.deep.equal([heard.nodeId]);
    const { id } = await root.mutate<{ id: string }>('nodeGroup.create', {
      environmentId,
      name: 'all',
      criteria: {},
    });
    const groups = await root.query<{ id: string; nodeCount: number }[]>('nodeGroup.list', { environmentId });
    expect(groups).to.deep.include({ ...groups[0], id, nodeCount: 1 });
  });

  it('stay where the environment says 0, and go earlier where it says so', async () => {
    const node = await silentNode(400);
    expect((await set({ archiveNodesAfterDays: 0 })).archiveNodesAfterDays).to.equal(0);
    expect(await archive()).to.equal(0);
    await set({ archiveNodesAfterDays: 399 });
    expect(await archive()).to.equal(1);
    expect(await list()).to.not.include(node.nodeId);
  });

  it('stay while they wait for the first call of their agent', async () => {
    const { id } = await root.mutate<NodeSummary>('fleet.create', {
      ...{ environmentId, name: 'waiting', host: 'waiting' },
    });
    await test
      .db('nodes')
      .where({ id })
      .update({ created_at: new Date(0) });
    expect(await archive()).to.equal(0);
    expect(await list()).to.deep.equal([id]);
  });

  it('stay while nobody can know yet who is silent: right after a start', async () => {
    await silentNode(31);
    expect(await archive({ clock: manualClock(Date.now() + 60_000) })).to.equal(0);
  });

  it('are set by an ADMIN of the team, in days that are some', async () => {
    for (const archiveNodesAfterDays of [-1, 1.5, 3_651]) {
      const { status } = await root.call('mutation', 'environment.update', {
        ...{ id: environmentId, archiveNodesAfterDays },
      });
      expect(status).to.equal(400);
    }
  });
});
