/** Node groups that people make: what they say, whom they reach, and that git's are git's. */
import { expect } from 'chai';
import type { FleetNode } from '../../../schemas/api/fleet/fleet.ts';
import type { NodeGroup } from '../../../schemas/api/fleet/node-groups.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

describe('node groups', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let made = 0;

  before(async () => {
    await teams.ours.node.heartbeat(heartbeat({ labels: { role: 'edge' } }));
    await until(async () => (await node()).agentLabels.role === 'edge', { what: 'the labels' });
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
});
