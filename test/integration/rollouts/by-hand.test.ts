/** Rollouts that people start: what every node is told at each step, and what else may be done meanwhile. */
import { expect } from 'chai';
import type { RolloutSummary } from '../../../schemas/api/delivery/rollouts.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import { drawPipeline, soundGraph } from '../../support/fixtures/graphs.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { beforeEngineCheck } from '../../support/scenes/engine-check.ts';
import { refusal } from '../../support/scenes/places.ts';
import {
  activeOf,
  joinRing,
  joinRings,
  lastOf,
  putBackWindow,
  type RingNode,
  untilServed,
  untilStatus,
  wakeRollout,
} from '../../support/scenes/rollouts.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

const CANARY = { canarySelector: { ring: '0' }, healthCheckWindowMinutes: 10, changelog: 'a try' };

describe('a rollout by stages', () => {
  const test = useController();
  const root = useRoot(test);
  let environmentId: string;
  let nodes: RingNode[];
  let n = 0;

  before(async () => {
    ({ environmentId } = await testEnvironment(root));
    nodes = await joinRings(test, root, environmentId, 3);
  });

  const deploy = (pipelineId: string, more = {}) =>
    root.mutate<{ versionNumber: number }>('deploy.agent', { pipelineId, changelog: 'a change', ...more });
  const begin = async (pipelineId: string, more = {}) =>
    (await root.mutate<{ rolloutId: string }>('stagedRollout.create', { pipelineId, ...CANARY, ...more }))
      .rolloutId;
  /** Version 1 on all nodes, and another graph. */
  async function deployed(): Promise<{ id: string; name: string }> {
    const name = `staged ${++n}`;
    const { id } = await drawPipeline(root, environmentId, soundGraph('.v = 1'), name);
    await deploy(id);
    await root.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph('.v = 2') });
    return { id, name };
  }
  const get = (id: string) => root.query<Pipeline>('pipeline.get', { id });
  const actions = async (id: string): Promise<string[]> =>
    test.db('audit_log').where({ entity_id: id }).orderBy('created_at').pluck('action');
  const finish = (rolloutId: string) => root.mutate('stagedRollout.rollback', { rolloutId });

  it('gives canary nodes the new version and no other node, until it is broadened', async () => {
    const { id, name } = await deployed();
    await untilServed(nodes, name, [1, 1, 1]);
    const rolloutId = await begin(id);
    await untilServed(nodes, name, [2, 1, 1]);
    expect(await get(id)).to.include({
      ...{ deployedVersionNumber: 1, latestVersionNumber: 2, isDraft: false, hasConfigChanges: false },
    });
    for (const one of nodes) await one.report();
    const active = await activeOf(root, id);
    expect(active).to.include({ id: rolloutId, canaryVersion: 2, previousVersion: 1, source: 'ui' });
    expect(active?.canary).to.include({ total: 1, onVersion: 1, crashed: 0 });
    expect(active?.control).to.include({ total: 2, onVersion: 2 });
    expect(active?.nodes.map(({ stage, desiredVersion }) => [stage, desiredVersion])).to.deep.equal([
      ['canary', 2],
      ['control', 1],
      ['control', 1],
    ]);
    expect(await root.mutate('stagedRollout.broaden', { rolloutId })).to.deep.equal({
      rolloutId,
      status: 'BROADENED',
    });
    await untilServed(nodes, name, [2, 2, 2]);
    expect(await activeOf(root, id)).to.equal(null);
    expect(await lastOf(root, id)).to.include({
      status: 'BROADENED',
      endReason: 'Broadened by hand',
      endedBy: 'Administrator',
    });
    // The loop may have begun the window meanwhile.
    const byHand = (await actions(id)).filter((action) => action !== 'rollout.healthCheckStarted');
    expect(byHand.slice(-2)).to.deep.equal(['rollout.created', 'rollout.broadened']);
  });

  it('is not begun where a secret of the pipeline is deleted while it is being checked', async () => {
    const name = `staged ${++n}`;
    const secret = { environmentId, name: 'meanwhile', value: 'a value' };
    const { id: secretId } = await root.mutate<{ id: string }>('secret.create', secret);
    const graph = soundGraph('.key = "$' + '{SVC_SECRET_MEANWHILE}"');
    const { id } = await drawPipeline(root, environmentId, graph, name);
    const { status, fault } = await beforeEngineCheck(
      test,
      () => root.mutate('secret.delete', { environmentId, id: secretId }),
      () => root.call('mutation', 'stagedRollout.create', { pipelineId: id, ...CANARY }),
    );
    expect(status).to.equal(409);
    expect(fault?.message).to.match(/Deleted while the pipeline was being checked: SVC_SECRET_MEANWHILE/);
    expect(await get(id)).to.include({ isDraft: true });
  });

  it('gives canary nodes the version before when it is rolled back, and keeps what was drawn', async () => {
    const { id, name } = await deployed();
    const rolloutId = await begin(id);
    await untilServed(nodes, name, [2, 1, 1]);
    await root.mutate('stagedRollout.rollback', { rolloutId, reason: 'it leaks' });
    await untilServed(nodes, name, [1, 1, 1]);
    expect(await lastOf(root, id)).to.include({ status: 'ROLLED_BACK', endReason: 'it leaks' });
    expect(await get(id)).to.include({ hasConfigChanges: true, isDraft: false });
  });

  it('gives a first version to canary nodes alone, and makes it a draft again when rolled back', async () => {
    const name = `staged ${++n}`;
    const { id } = await drawPipeline(root, environmentId, soundGraph(), name);
    const first = await begin(id);
    await untilServed(nodes, name, [1, null, null]);
    await finish(first);
    await untilServed(nodes, name, [null, null, null]);
    expect(await get(id)).to.include({ isDraft: true, deployedVersionNumber: null });
    const second = await begin(id);
    await untilServed(nodes, name, [2, null, null]);
    await root.mutate('stagedRollout.broaden', { rolloutId: second });
    await untilServed(nodes, name, [2, 2, 2]);
  });

  it('follows labels, nodes that join, and maintenance', async () => {
    const { id, name } = await deployed();
    const rolloutId = await begin(id);
    await untilServed(nodes, name, [2, 1, 1]);
    const [zero, one] = nodes as [RingNode, RingNode, RingNode];
    await root.mutate('fleet.update', { id: one.node.nodeId, labels: { ring: '0' } });
    await untilServed(nodes, name, [2, 2, 1]);
    await root.mutate('fleet.update', { id: one.node.nodeId, labels: {} });
    await untilServed(nodes, name, [2, 1, 1]);
    const joined = [
      await joinRing(test, root, environmentId, 'late-0', { ring: '0' }),
      await joinRing(test, root, environmentId, 'late-9', { ring: '9' }),
    ];
    await untilServed([...nodes, ...joined], name, [2, 1, 1, 2, 1]);
    await root.mutate('fleet.setMaintenance', { nodeId: zero.node.nodeId, enabled: true });
    await untilServed(nodes, name, [null, 1, 1]);
    await root.mutate('fleet.setMaintenance', { nodeId: zero.node.nodeId, enabled: false });
    await untilServed(nodes, name, [2, 1, 1]);
    await finish(rolloutId);
    await untilServed([...nodes, ...joined], name, [1, 1, 1, 1, 1]);
    for (const { node } of joined) await root.mutate('fleet.delete', { id: node.nodeId });
  });

  it('goes by the node selector of each version, not by what is edited', async () => {
    const { id, name } = await deployed();
    await root.mutate('pipeline.update', { id, nodeSelector: { ring: '2' } });
    await untilServed(nodes, name, [1, 1, 1]);
    expect((await get(id)).nodeCounts.total).to.equal(3);
    expect(await refusal(root, 'mutation', 'stagedRollout.create', { pipelineId: id, ...CANARY })).to.contain(
      'BAD_REQUEST: No node of the pipeline carries ring=0',
    );
    await root.mutate('pipeline.update', { id, nodeSelector: null });
  });

  it('is refused where it would mean no node, or every node', async () => {
    const { id } = await deployed();
    const rows: [string, object, string][] = [
      ['no node', { ring: '7' }, 'BAD_REQUEST: No node of the pipeline carries ring=7'],
      ['all by saying nothing', {}, 'BAD_REQUEST: canarySelector is empty'],
    ];
    for (const [reason, canarySelector, message] of rows) {
      const input = { pipelineId: id, ...CANARY, canarySelector };
      expect(await refusal(root, 'mutation', 'stagedRollout.create', input), reason).to.contain(message);
    }
    const ids = nodes.map(({ node }) => node.nodeId);
    await test.db('nodes').whereIn('id', ids).update({ ui_labels: '{"zone":"a"}' });
    const input = { pipelineId: id, ...CANARY, canarySelector: { zone: 'a' } };
    expect(await refusal(root, 'mutation', 'stagedRollout.create', input)).to.contain(
      'BAD_REQUEST: All 3 nodes of the pipeline carry zone=a',
    );
    await test.db('nodes').whereIn('id', ids).update({ ui_labels: '{}' });
    expect(await root.query<RolloutSummary[]>('stagedRollout.list', { pipelineId: id })).to.deep.equal([]);
  });

  it('keeps others from deploying over it unless they say so', async () => {
    const { id, name } = await deployed();
    await begin(id);
    const refused = 'PRECONDITION_FAILED: A rollout of version 2 is under way';
    const change = { pipelineId: id, changelog: 'x' };
    expect(await refusal(root, 'mutation', 'deploy.agent', change)).to.contain(refused);
    expect(await refusal(root, 'mutation', 'stagedRollout.create', { ...change, ...CANARY })).to.contain(
      refused,
    );
    await begin(id, { supersede: true });
    await untilServed(nodes, name, [3, 1, 1]);
    await deploy(id, { supersede: true });
    await untilServed(nodes, name, [4, 4, 4]);
    const ended = await root.query<RolloutSummary[]>('stagedRollout.list', { pipelineId: id });
    expect(ended.map(({ status, endReason }) => [status, endReason])).to.deep.equal([
      ['ROLLED_BACK', 'Superseded by version 4'],
      ['ROLLED_BACK', 'Superseded by version 3'],
    ]);
  });

  it('ends with what it is of: undeployed, rolled back to another version, deleted', async () => {
    const ends: [string, (id: string) => Promise<unknown>, (number | null)[]][] = [
      [
        'The pipeline was undeployed',
        (id) => root.mutate('deploy.undeploy', { pipelineId: id }),
        [null, null, null],
      ],
      [
        'Rolled back to version 1',
        async (id) => {
          const versions = await root.query<{ id: string; version: number }[]>('pipeline.versions', {
            pipelineId: id,
          });
          const first = versions.find(({ version }) => version === 1);
          return root.mutate('pipeline.rollback', { pipelineId: id, targetVersionId: first?.id });
        },
        [3, 3, 3],
      ],
      ['The pipeline was deleted', (id) => root.mutate('pipeline.delete', { id }), [null, null, null]],
    ];
    for (const [reason, end, versions] of ends) {
      const { id, name } = await deployed();
      const rolloutId = await begin(id);
      await untilServed(nodes, name, [2, 1, 1]);
      await end(id);
      await untilServed(nodes, name, versions);
      const row = await test.db('rollouts').where({ id: rolloutId }).first('status', 'end_reason');
      expect(row).to.deep.equal({ status: 'ROLLED_BACK', end_reason: reason });
    }
  });

  it('ends once: who comes later is told so', async () => {
    const { id } = await deployed();
    const rolloutId = await begin(id);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, call) =>
        root.call('mutation', `stagedRollout.${call % 2 ? 'broaden' : 'rollback'}`, { rolloutId }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, ...Array(9).fill(412)]);
    expect(await refusal(root, 'mutation', 'stagedRollout.broaden', { rolloutId })).to.match(
      /^PRECONDITION_FAILED: This rollout has ended already/,
    );
    const row = await test.db('rollouts').where({ id: rolloutId }).first('status');
    const deployedNumber = (await get(id)).deployedVersionNumber;
    expect(deployedNumber).to.equal(row.status === 'BROADENED' ? 2 : 1);
  });

  it('is watched by the loop, and broadened once its window is over', async () => {
    const { id, name } = await deployed();
    const rolloutId = await begin(id);
    await untilServed(nodes, name, [2, 1, 1]);
    for (const one of nodes) await one.report({ eventsIn: 10, eventsOut: 10 });
    await wakeRollout(test, rolloutId);
    const checked = await untilStatus(root, id, 'HEALTH_CHECK');
    expect(checked.healthEndsAt).not.to.equal(null);
    const [zero, one] = nodes as [RingNode, RingNode, RingNode];
    await zero.report({ eventsIn: 510, eventsOut: 500 });
    await one.report({ eventsIn: 900, eventsOut: 900 });
    await wakeRollout(test, rolloutId);
    await until(async () => (await lastOf(root, id)).verdict?.canary.eventsIn === 500, {
      what: 'the events of the window to be counted',
    });
    await untilServed(nodes, name, [2, 1, 1]);
    await putBackWindow(test.db, rolloutId, 10);
    await wakeRollout(test, rolloutId);
    const ended = await untilStatus(root, id, 'BROADENED');
    expect(ended).to.include({ endedBy: 'rollout' });
    expect(ended.verdict).to.include({ verdict: 'healthy' });
    expect(ended.endReason).to.contain('0.00 % of 500 events');
    await untilServed(nodes, name, [2, 2, 2]);
    expect((await actions(id)).slice(-3)).to.deep.equal([
      'rollout.created',
      'rollout.healthCheckStarted',
      'rollout.broadened',
    ]);
  });

  it('is rolled back by the loop where the canary crashes', async () => {
    const { id, name } = await deployed();
    const rolloutId = await begin(id);
    await untilServed(nodes, name, [2, 1, 1]);
    const [zero] = nodes as [RingNode, RingNode, RingNode];
    await zero.report();
    await wakeRollout(test, rolloutId);
    await untilStatus(root, id, 'HEALTH_CHECK');
    await zero.report({ status: 'CRASHED', restarts: 3, lastError: 'no memory' });
    await wakeRollout(test, rolloutId);
    const ended = await untilStatus(root, id, 'ROLLED_BACK');
    expect(ended).to.include({ endReason: 'Version 2 crashed 3 times on canary nodes' });
    await untilServed(nodes, name, [1, 1, 1]);
  });

  it('protects a secret that only the canary uses', async () => {
    const { id } = await deployed();
    const secret = await root.mutate<{ id: string }>('secret.create', {
      environmentId,
      name: `canary_${n}`,
      value: 'x',
    });
    const graph = soundGraph(`.v = "\${SVC_SECRET_CANARY_${n}}"`);
    await root.mutate('pipeline.saveGraph', { pipelineId: id, ...graph });
    const rolloutId = await begin(id);
    const wanted = { environmentId, id: secret.id };
    expect(await refusal(root, 'mutation', 'secret.delete', wanted)).to.contain(`staged ${n}`);
    await finish(rolloutId);
  });
});
