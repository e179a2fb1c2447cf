/** An environment that is deleted takes all with it that it had, and stops no engine by an empty answer. */
import { expect } from 'chai';
import { enrollNode, heartbeat, type TestNode } from '../../support/agents/agent-client.ts';
import { startTestController, useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken, refusal, tenAtOnce } from '../../support/scenes/places.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

const GRAPH = {
  nodes: [
    { componentKey: 'lines', componentType: 'demo_logs', kind: 'SOURCE', config: { format: 'json' } },
    { componentKey: 'out', componentType: 'blackhole', kind: 'SINK', config: {} },
  ].map((node) => ({ ...node, positionX: 0, positionY: 0, disabled: false })),
  edges: [{ sourceNodeId: 'lines', targetNodeId: 'out' }],
};

describe('an environment that is deleted', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let made = 0;

  /** With a deployed pipeline and a node that runs it. */
  const furnished = async () => {
    const { root, ours } = teams;
    const make = async (name: string, input: object) => (await root.mutate<{ id: string }>(name, input)).id;
    const name = `furnished ${++made}`;
    const environmentId = await make('environment.create', { teamId: ours.teamId, name });
    const pipelineId = await make('pipeline.create', { environmentId, name: 'by hand' });
    await root.mutate('pipeline.saveGraph', { pipelineId, ...GRAPH });
    await root.mutate('deploy.agent', { pipelineId, changelog: 'first' });
    const token = await enrollmentToken(root, environmentId);
    const node = await enrollNode(test.url, token, { hostname: name });
    await node.heartbeat(
      heartbeat({ pipelines: [{ pipelineId, version: 1, status: 'RUNNING', pid: 7, uptimeSeconds: 3 }] }),
    );
    await until(async () => (await test.db('node_pipelines').where({ node_id: node.nodeId })).length > 0, {
      what: 'the heartbeat to be stored',
    });
    return { environmentId, pipelineId, node, token, name };
  };
  const remove = (id: string) => refusal(teams.admin, 'mutation', 'environment.delete', { id });
  const pipelinesOf = (node: TestNode) =>
    node.config().then(({ status, text }) => ({
      status,
      names:
        status === 200
          ? JSON.parse(text).pipelines.map((one: { pipelineName: string }) => one.pipelineName)
          : [],
    }));

  it('leaves no row of itself in any table but the audit log', async () => {
    const { root, ours } = teams;
    const { environmentId, pipelineId, node, name } = await furnished();
    await root.mutate('gitSync.configure', { environmentId, mode: 'sync', path: `bound-${made}` });
    const input = { environmentId, teamId: ours.teamId };
    const rule = { name: 'rule', pipelineId, metric: 'cpu_usage', condition: 'gt', threshold: 1 };
    await root.mutate('alert.createRule', { ...input, ...rule });
    await root.mutate('secret.create', { environmentId, name: 'key', value: 'v' });
    const accounts = { environmentId, name: 'ci', permissions: ['pipelines.read'] };
    await root.mutate('serviceAccount.create', accounts);
    const outer = await root.mutate<{ id: string }>('pipelineGroup.create', { environmentId, name: 'outer' });
    const inner = { environmentId, name: 'inner', parentId: outer.id };
    const { id: groupId } = await root.mutate<{ id: string }>('pipelineGroup.create', inner);
    await root.mutate('pipeline.update', { id: pipelineId, groupId });
    const other = { environmentId, name: 'downstream' };
    const { id: downstreamId } = await root.mutate<{ id: string }>('pipeline.create', other);
    await root.mutate('pipelineDependency.add', { upstreamId: pipelineId, downstreamId });
    const preset = { environmentId, name: 'preset', scope: 'pipeline_list', filters: {} };
    await root.mutate('filterPreset.create', preset);
    const component = { environmentId, name: 'shared', componentType: 'blackhole', kind: 'SINK', config: {} };
    await root.mutate('sharedComponent.create', component);

    const { output } = await teams.admin.call('mutation', 'environment.delete', { id: environmentId });
    expect(output).to.deep.equal({ deleted: true, pipelines: 2, nodes: 1 });

    const ids = [environmentId, pipelineId, node.nodeId, groupId, outer.id, downstreamId];
    const { rows: tables } = await test.db.raw<{ rows: { name: string }[] }>(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'audit_log'`,
    );
    expect(tables.length).to.be.greaterThan(25);
    for (const table of tables) {
      const { rows } = await test.db.raw('SELECT coalesce(json_agg(t)::text, ?) AS dump FROM ?? t', [
        ...['', table.name],
      ]);
      for (const id of ids) expect(rows[0].dump, `${table.name} of ${name}`).not.to.include(id);
    }
  });

  it('leaves its counts and its name in the audit log, is found by nobody, and its name is free again', async () => {
    const { environmentId, pipelineId, node, name } = await furnished();
    expect(await remove(environmentId)).to.equal('OK');
    const row = await test
      .db('audit_log')
      .where({ action: 'environment.deleted', entity_id: environmentId })
      .first();
    expect(row).to.deep.include({
      ...{ metadata: { name, pipelines: 1, nodes: 1 }, team_id: teams.ours.teamId },
      ...{ user_email: teams.admin.email, environment_id: environmentId },
    });
    expect(await remove(environmentId)).to.match(/^NOT_FOUND: Environment/);
    for (const [procedure, input] of [
      ['environment.get', { id: environmentId }],
      ['pipeline.list', { environmentId }],
      ['pipeline.get', { id: pipelineId }],
      ['fleet.get', { id: node.nodeId }],
      ['fleet.nodeLogs', { nodeId: node.nodeId }],
    ] as const)
      expect(await refusal(teams.admin, 'query', procedure, input), procedure).to.match(/^NOT_FOUND/);
    const again = { teamId: teams.ours.teamId, name };
    expect(await refusal(teams.editor, 'mutation', 'environment.create', again)).to.equal('OK');
  });

  it('refuses its nodes and their pushes with 401, and its enrollment token', async () => {
    const { environmentId, node, token } = await furnished();
    const stream = await node.push();
    expect(await pipelinesOf(node)).to.deep.equal({ status: 200, names: ['by hand'] });
    expect(await remove(environmentId)).to.equal('OK');
    await until(async () => (await node.config()).status === 401, { what: 'the poll to be refused' });
    expect((await node.heartbeat(heartbeat())).status).to.equal(401);
    expect((await node.logs([])).status).to.equal(401);
    await until(() => stream.ended(), { what: 'the push stream to end' });
    await enrollNode(test.url, token).then(
      () => expect.fail('it enrolled'),
      (error: Error) => expect(error.message).to.include('401'),
    );
  });

  it('answers no poll with an empty list of pipelines on the way', async () => {
    const { environmentId, node } = await furnished();
    const seen: { status: number; names: string[] }[] = [];
    let over = false;
    const polls = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!over) seen.push(await pipelinesOf(node));
      }),
    );
    await until(() => seen.length > 4, { what: 'some polls' });
    await remove(environmentId);
    await until(() => seen.at(-1)?.status !== 200, { what: 'the polls to be refused' });
    over = true;
    await polls;
    for (const { status, names } of seen) {
      if (status === 200) expect(names).to.deep.equal(['by hand']);
      // 429: too many polls of one node.
      else expect(status).to.be.oneOf([401, 429, 503]);
    }
  });

  it('answers no poll with an empty list where it is deleted while its config is read', async () => {
    const { environmentId, node } = await furnished();
    const other = await startTestController({
      databaseUrl: test.databaseUrl,
      dataDir: test.config.dataDir,
    });
    try {
      // Nothing is in the memory of this replica yet: the first poll reads the config, and is held in the middle of it.
      const asked = await test.db.transaction(async (tx) => {
        await tx.raw('LOCK TABLE pipelines IN ACCESS EXCLUSIVE MODE');
        const answer = fetch(`${other.url}/api/agent/config`, {
          headers: { authorization: `Bearer ${node.nodeToken}` },
        });
        await until(
          async () => {
            const { rows } = await test.db.raw(
              `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%pipelines%'
                 AND datname = current_database()`,
            );
            return rows.length > 0;
          },
          { what: 'the poll to wait for the table' },
        );
        await tx('git_bindings').where({ environment_id: environmentId }).delete();
        await tx('environments').where({ id: environmentId }).delete();
        return { answer };
      });
      const answer = await asked.answer;
      expect(answer.status, await answer.text()).to.equal(503);
    } finally {
      await other.stop();
    }
  });

  it('is deleted once where ten ask for it at once', async () => {
    const { environmentId } = await furnished();
    const statuses = await tenAtOnce(() =>
      teams.admin.call('mutation', 'environment.delete', { id: environmentId }),
    );
    expect(statuses).to.deep.equal([200, ...Array(9).fill(404)]);
  });

  it('gives a clear answer to all that happens in it at the same moment', async () => {
    const { environmentId, pipelineId, token } = await furnished();
    const input = { environmentId, teamId: teams.ours.teamId };
    const rule = { metric: 'cpu_usage', condition: 'gt', threshold: 1, pipelineId };
    const meanwhile = Array.from({ length: 4 }, (_, n) => [
      teams.admin.call('mutation', 'deploy.agent', { pipelineId, changelog: `at once ${n}` }),
      teams.admin.call('mutation', 'alert.createRule', { ...input, ...rule, name: `rule ${n}` }),
      teams.admin.call('mutation', 'secret.create', { environmentId, name: `s${n}`, value: 'v' }),
      teams.admin.call('mutation', 'pipelineGroup.create', { environmentId, name: `group ${n}` }),
      teams.admin.call('mutation', 'pipeline.create', { environmentId, name: `p${n}` }),
      enrollNode(test.url, token).then(
        () => ({ status: 200 }),
        (error: Error) => ({ status: Number(/enroll: (\d+)/.exec(error.message)?.[1]) }),
      ),
    ]).flat();
    const [deleted, ...others] = await Promise.all([
      teams.admin.call('mutation', 'environment.delete', { id: environmentId }),
      ...meanwhile,
    ]);
    expect(deleted.status).to.be.oneOf([200, 503]);
    for (const { status } of others) expect(status).to.be.oneOf([200, 401, 404, 503]);
    if (deleted.status === 503) expect(await remove(environmentId)).to.equal('OK');
    expect(await test.db('pipelines').where({ environment_id: environmentId })).to.deep.equal([]);
  });

  it('may be bound to git: the binding goes with it, the files and the other environments stay', async () => {
    const { ours, theirs, git, root } = teams;
    expect(await remove(ours.environmentId)).to.equal('OK');
    await git.commit({
      'theirs/after.yaml':
        'apiVersion: headgate/v1\nkind: NodeGroup\nmetadata: { name: after }\nspec: { criteria: { a: b } }\n',
    });
    const { code, stderr } = await git.push();
    expect(code, stderr).to.equal(0);
    const groups = () =>
      root.query<{ name: string }[]>('nodeGroup.list', { environmentId: theirs.environmentId });
    await until(async () => (await groups()).some(({ name }) => name === 'after'), { what: 'the next push' });
    expect(stderr).not.to.include('ours');
    const { stdout } = await git.run('ls-tree', '-r', '--name-only', 'origin/main');
    expect(stdout).to.include('ours/orders.yaml');
    expect(test.log()).not.to.match(/git pass failed[^\n]*error/);
  });
});
