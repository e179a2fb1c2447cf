/** Node groups that people make: what they say, whom they reach, and that git's are git's. */
import { expect } from 'chai';
import type { FleetNode } from '../../../schemas/api/fleet.ts';
import type { NodeGroup } from '../../../schemas/api/node-groups.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { ONE_OF_TEN, refusal, tenAtOnce } from '../../support/scenes/places.ts';
import { makeTwoTeams, type TwoTeams } from '../../support/scenes/two-teams.ts';

const manifest = (name: string) => `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: ${name} }
spec: { criteria: { region: eu }, labelTemplate: { law: gdpr } }
`;

describe('node groups', () => {
  let test: TestController;
  let teams: TwoTeams;
  let made = 0;

  before(async function () {
    this.timeout(30_000);
    test = await startTestController();
    teams = await makeTwoTeams(test);
    await teams.ours.node.heartbeat(heartbeat({ labels: { role: 'edge' } }));
    await until(async () => (await node()).agentLabels.role === 'edge', { what: 'the labels' });
  });
  after(async () => {
    await teams?.git.remove();
    await test?.stop();
  });

  const input = (more: object = {}) => ({
    ...{ environmentId: teams.ours.environmentId, name: `group ${++made}`, criteria: { role: 'edge' } },
    ...more,
  });
  const create = (more?: object) => teams.admin.mutate<NodeGroup>('nodeGroup.create', input(more));
  const update = (id: string, more: object) =>
    teams.admin.mutate<NodeGroup>('nodeGroup.update', { id, ...more });
  const remove = (id: string) => teams.admin.mutate('nodeGroup.delete', { id });
  const list = () =>
    teams.viewer.query<NodeGroup[]>('nodeGroup.list', { environmentId: teams.ours.environmentId });
  const find = async (name: string) => (await list()).find((one) => one.name === name);
  const node = () => teams.viewer.query<FleetNode>('fleet.get', { id: teams.ours.node.nodeId });
  const refused = (procedure: string, more: object) =>
    refusal(teams.admin, 'mutation', `nodeGroup.${procedure}`, more);
  const audit = (action: string, id: string) =>
    test.db('audit_log').where({ action, entity_id: id }).orderBy('created_at').select('diff', 'metadata');

  it('have no template and no required labels where nothing is said, and are in the list as they were made', async () => {
    const group = await create();
    expect(group).to.deep.include({
      ...{ criteria: { role: 'edge' }, labelTemplate: {}, requiredLabels: [], labels: {} },
      ...{ managedBy: 'ui', git: null, nodeCount: 1, environmentId: teams.ours.environmentId },
    });
    expect(await find(group.name)).to.deep.equal(group);
    expect((await audit('nodeGroup.created', group.id))[0]?.metadata).to.include({ name: group.name });
  });

  it('give their labels at once, tell agents, and take them away again', async () => {
    const stream = await teams.ours.node.push();
    try {
      await until(() => stream.text() !== '', { what: 'the stream' });
      const group = await create({ labelTemplate: { tier: 'outer' } });
      expect((await node()).labels).to.include({ role: 'edge', tier: 'outer' });
      await until(() => stream.events('config_changed').length === 1, { what: 'agents to be told' });
      await update(group.id, { labelTemplate: { tier: 'inner' } });
      expect((await node()).labels).to.include({ tier: 'inner' });
      expect((await node()).labelSources).to.include({ tier: 'group' });
      await update(group.id, { criteria: { role: 'core' } });
      expect((await node()).labels).not.to.have.property('tier');
      await update(group.id, { criteria: {} });
      expect((await node()).labels).to.include({ tier: 'inner' });
      await remove(group.id);
      expect((await node()).labels).not.to.have.property('tier');
      await until(() => stream.events('config_changed').length === 5, { what: 'agents to be told of all' });
    } finally {
      stream.close();
    }
  });

  it('follow each change with the revision of the config, and nothing where nothing changes', async () => {
    const revision = async () =>
      (await test.db('environments').where({ id: teams.ours.environmentId }).first()).config_revision;
    const group = await create({ requiredLabels: ['zone', 'rack'] });
    const before = await revision();
    await update(group.id, { requiredLabels: ['zone'], name: group.name });
    expect(await revision()).to.equal(before + 1);
    await update(group.id, { requiredLabels: ['zone'], criteria: { role: 'edge' } });
    expect(await revision()).to.equal(before + 1);
    expect((await audit('nodeGroup.updated', group.id)).map(({ diff }) => diff)).to.deep.equal([
      { requiredLabels: [['zone', 'rack'], ['zone']] },
      null,
    ]);
  });

  it('hold every node where no criterion is given, as manifests may say too', async () => {
    const { nodeCount } = await create({ criteria: {} });
    expect(nodeCount).to.equal(
      (await teams.viewer.query<unknown[]>('fleet.list', { environmentId: teams.ours.environmentId })).length,
    );
  });

  it('have names of their own in an environment, whatever the case', async () => {
    await create({ name: 'Edge' });
    const other = await create({ name: 'Core' });
    expect(await refused('create', input({ name: ' edge ' }))).to.match(/^CONFLICT: .*"edge" exists already/);
    expect(await refused('update', { id: other.id, name: 'EDGE' })).to.match(/^CONFLICT/);
    const name = 'of ten';
    expect(
      await tenAtOnce(() => teams.admin.call('mutation', 'nodeGroup.create', input({ name }))),
    ).to.deep.equal(ONE_OF_TEN);
  });

  it('are 200 an environment at most, also when they come at once', async () => {
    const { id: environmentId } = await teams.root.mutate<{ id: string }>('environment.create', {
      ...{ teamId: teams.ours.teamId, name: 'crowded' },
    });
    await test.db.raw(
      `INSERT INTO node_groups (id, environment_id, name) SELECT 'crowd-' || n, ?, 'crowd ' || n FROM generate_series(1, 195) n`,
      [environmentId],
    );
    const statuses = await tenAtOnce((n) =>
      teams.admin.call('mutation', 'nodeGroup.create', input({ environmentId, name: `last ${n}` })),
    );
    expect(statuses).to.deep.equal([...Array(5).fill(200), ...Array(5).fill(412)]);
  });

  it('of git are refused with path and line, and stay', async () => {
    await teams.git.commit({ 'ours/europe.yaml': manifest('europe') });
    const { stderr } = await teams.git.push();
    await until(async () => (await find('europe')) !== undefined, { what: `the group: ${stderr}` });
    const group = await find('europe');
    for (const [procedure, more] of [
      ['update', { name: 'asia' }],
      ['delete', {}],
    ] as const) {
      expect(await refused(procedure, { id: group?.id, ...more })).to.match(
        /^PRECONDITION_FAILED: .*"europe" is described in git \(ours\/europe\.yaml:\d+\)/,
      );
    }
    expect(await find('europe')).to.deep.equal(group);
    expect(await refused('create', input({ name: 'Europe' }))).to.match(/^CONFLICT/);
  });

  it('leave their name to a manifest that waited for it', async () => {
    const group = await create({ name: 'nordic' });
    await teams.git.commit({ 'ours/nordic.yaml': manifest('nordic') });
    await teams.git.push();
    expect(await find('nordic')).to.include({ managedBy: 'ui' });
    await remove(group.id);
    await until(async () => (await find('nordic'))?.managedBy === 'git', { what: 'the manifest to follow' });
  });

  for (const { reason, more } of [
    { reason: 'a criterion with a space in its key', more: { criteria: { 'a b': 'c' } } },
    { reason: 'a criterion that is no text', more: { criteria: { a: 1 } } },
    { reason: 'a key without end', more: { labelTemplate: { ['k'.repeat(129)]: 'c' } } },
    { reason: 'a label twice among the required', more: { requiredLabels: ['a', 'a'] } },
    { reason: 'no criteria', more: { criteria: undefined } },
  ]) {
    it(`are refused with ${reason}`, async () => {
      expect(await refused('create', input(more))).to.match(/^BAD_REQUEST/);
    });
  }
});
