/** A version that does not run on a node is taken back there, whoever wrote its agent; through the doors that agents use. */
import { expect } from 'chai';
import { deleteOldVersions } from '../../../controller/pipelines/versions/version-retention-store.ts';
import type { ConfigResponse, PipelineEntry } from '../../../schemas/agent/protocol.ts';
import type { EnvironmentOverview } from '../../../schemas/api/insight/dashboard.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import { send } from '../../support/clients/http.ts';
import { drawPipeline, soundGraph } from '../../support/fixtures/graphs.ts';
import { startTestController, useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import {
  joinRings,
  type RingNode,
  untilServed,
  untilStatus,
  wakeRollout,
} from '../../support/scenes/rollouts.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

describe('a version that does not run on a node', function () {
  this.timeout(30_000);
  const test = useController();
  const root = useRoot(test);
  let environmentId: string;
  let nodes: RingNode[];
  let n = 0;

  beforeEach(async () => {
    ({ environmentId } = await testEnvironment(root, `reverts ${++n}`));
    nodes = await joinRings(test, root, environmentId, 2);
  });

  const first = () => nodes[0] as RingNode;
  const second = () => nodes[1] as RingNode;
  const deploy = (pipelineId: string) => root.mutate('deploy.agent', { pipelineId, changelog: 'a change' });
  const draw = (id: string, source: string) =>
    root.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph(source) });
  const get = (id: string) => root.query<Pipeline>('pipeline.get', { id });
  const running = async (id: string) => (await get(id)).gate.find(({ point }) => point === 'running');
  /** What the node is served of the pipeline, by its own controller or another. */
  async function nodeOf({ node }: RingNode, name: string, url = test.url): Promise<PipelineEntry> {
    const headers = { authorization: `Bearer ${node.nodeToken}` };
    const answer = await send(`${url}/api/agent/config`, { headers });
    const found = answer.json<ConfigResponse>().pipelines.find((one) => one.pipelineName === name);
    if (!found) throw new Error(`${name} is not served: ${answer.text}`);
    return found;
  }
  const rows = () =>
    test.db('node_reverts').whereIn(
      'node_id',
      nodes.map(({ node }) => node.nodeId),
    );

  /** Version 1 runs on both nodes, and version 2 is served. */
  async function changed(source = '.v = 2'): Promise<{ id: string; name: string }> {
    const name = `changed ${++n}`;
    const { id } = await drawPipeline(root, environmentId, soundGraph('.v = 1'), name);
    await deploy(id);
    for (const one of nodes) await one.report();
    await draw(id, source);
    await deploy(id);
    await untilServed(nodes, name, [2, 2]);
    return { id, name };
  }
  /** Its engine has ended so many times. */
  const crash = (one: RingNode, restarts: number) =>
    one.report({
      status: 'CRASHED',
      restarts,
      pid: null,
      lastError: 'Configuration error. error=Sink "out": no such host',
    });

  it('is taken back there after its second start failed, and stays on the others', async () => {
    const { id, name } = await changed();
    await second().report();
    await crash(first(), 1);
    await untilServed(nodes, name, [2, 2]);
    const before = (await first().node.config()).headers.etag;
    await crash(first(), 2);
    await untilServed(nodes, name, [1, 2]);
    expect((await first().node.config()).headers.etag).not.to.equal(before);
    await first().report();
    expect(await running(id)).to.deep.include({ state: 'failed' });
    expect((await running(id))?.reason).to.equal(
      'Version 2 crashed on 1 of 2 nodes (node-0): sink out: Configuration error. error=Sink "out": no such host; it was reverted there to version 1',
    );
    const [on] = (await get(id)).statuses;
    expect(on?.refused).to.include({ version: 2, servedVersion: 1, by: 'CRASH', component: 'sink out' });
    expect(on).to.include({ desiredVersion: 1, version: 1, status: 'RUNNING' });
    const audited = await test
      .db('audit_log')
      .where({ action: 'pipeline.reverted', environment_id: environmentId })
      .select('entity_id');
    expect(audited).to.deep.equal([{ entity_id: id }]);
    const { environments } = await root.query<{ environments: EnvironmentOverview[] }>(
      'dashboard.operationalOverview',
    );
    const problems = environments.find((one) => one.environmentId === environmentId)?.problems ?? [];
    expect(problems.map(({ title }) => title)).to.include(`${name}: version 2 failed on 1 of 2 nodes`);
  });

  it('is taken back where the agent counts no restarts, once it has crashed anew', async () => {
    const { name } = await changed();
    const bare = { pid: undefined, restarts: undefined, uptimeSeconds: undefined };
    const { pipelineId } = await nodeOf(first(), name);
    const say = (status: string) =>
      first().node.heartbeat({ pipelines: [{ pipelineId, version: 2, status, ...bare }] });
    const seen = (status: string) =>
      until(
        async () =>
          (await test.db('node_pipelines').where({ node_id: first().node.nodeId }).first('status')).status ===
          status,
        { what: `${status} to be stored` },
      );
    for (const status of ['CRASH_LOOP', 'STARTING', 'crashed']) {
      await untilServed([first()], name, [2]);
      await say(status);
      await seen(status === 'STARTING' ? status : 'CRASHED');
    }
    await untilServed([first()], name, [1]);
  });

  it('is not taken back where nothing ran before, nor once it has run for ten minutes', async () => {
    const { id } = await drawPipeline(root, environmentId, soundGraph('.v = 1'), 'fresh');
    await deploy(id);
    for (const restarts of [1, 2, 3]) await crash(first(), restarts);
    const { name } = await (async () => {
      await root.mutate('deploy.undeploy', { pipelineId: id });
      return changed();
    })();
    await first().report();
    await test.db('node_pipelines').update({ status_since: test.db.raw("now() - interval '11 minutes'") });
    await first().report({ eventsIn: 5 });
    for (const restarts of [1, 2, 3]) await crash(first(), restarts);
    await untilServed(nodes, name, [2, 2]);
    expect(await rows()).to.deep.equal([]);
  });

  it('gives way to the next version, which is served at once', async () => {
    const { id, name } = await changed();
    for (const restarts of [1, 2]) await crash(first(), restarts);
    await untilServed(nodes, name, [1, 2]);
    await first().report();
    await draw(id, '.v = 3');
    await deploy(id);
    await untilServed(nodes, name, [3, 3]);
    await until(async () => (await rows()).length === 0, { what: 'what is over to be forgotten' });
    for (const restarts of [1, 2]) await crash(first(), restarts);
    await untilServed(nodes, name, [1, 3]);
  });

  it('stays taken back where the next version is the very same, and is served again by hand', async () => {
    const { id, name } = await changed();
    for (const restarts of [1, 2]) await crash(first(), restarts);
    await untilServed(nodes, name, [1, 2]);
    await first().report();
    await deploy(id);
    await untilServed(nodes, name, [1, 3]);
    expect(await root.mutate('deploy.retryVersion', { pipelineId: id })).to.deep.equal({
      success: true,
      nodes: 1,
    });
    await untilServed(nodes, name, [3, 3]);
    expect(await root.mutate('deploy.retryVersion', { pipelineId: id })).to.include({ nodes: 0 });
    await first().report();
    expect(await running(id)).not.to.include({ state: 'failed' });
  });

  it('is recorded at once where the engine of the node refused to build it', async () => {
    const { id, name } = await changed();
    await second().report();
    const { checksum } = await nodeOf(first(), name);
    const refused = {
      version: 2,
      checksum,
      error: 'Configuration error. error=missing field `path`\n\nin `sinks.out`',
    };
    await first().report({ refused: { ...refused, checksum: 'sha256:of-another-one' } }, { [name]: 1 });
    await untilServed(nodes, name, [2, 2]);
    await first().report({ refused, eventsIn: 1 }, { [name]: 1 });
    await untilServed(nodes, name, [1, 2]);
    await first().report();
    const [on] = (await get(id)).statuses;
    expect(on?.refused).to.include({
      by: 'NODE_CHECK',
      version: 2,
      servedVersion: 1,
      component: 'sink out',
      option: 'path',
    });
    expect((await running(id))?.reason).to.match(
      /^Version 2 was refused on 1 of 2 nodes by their engine \(node-0\): sink out, option path: .*; version 1 keeps running there$/,
    );
  });

  it('stays where the pipeline or the environment says so', async () => {
    await root.mutate('environment.update', { id: environmentId, autoRevert: false });
    const { id, name } = await changed();
    for (const restarts of [1, 2, 3]) await crash(first(), restarts);
    await untilServed(nodes, name, [2, 2]);
    await root.mutate('pipeline.update', { id, autoRevert: true });
    await crash(first(), 4);
    await untilServed(nodes, name, [1, 2]);
    await root.mutate('pipeline.update', { id, autoRevert: false });
    await untilServed(nodes, name, [2, 2]);
  });

  it('keeps the version before from being deleted, and stays on it only while its secrets are there', async () => {
    const secret = await root.mutate<{ id: string }>('secret.create', {
      ...{ environmentId, name: 'old', value: 'of before' },
    });
    const name = 'secretive';
    const { id } = await drawPipeline(root, environmentId, soundGraph(`.v = "\${SVC_SECRET_OLD}"`), name);
    await deploy(id);
    for (const one of nodes) await one.report();
    await draw(id, '.v = 2');
    await deploy(id);
    for (const restarts of [1, 2]) await crash(first(), restarts);
    await untilServed(nodes, name, [1, 2]);
    await second().report();
    await test.db('node_pipelines').update({ ran_version: null });
    const limits = { keep: 1, deployedSince: new Date(Date.now() + 60_000) };
    expect(await test.db.transaction((tx) => deleteOldVersions(tx, id, limits, 10))).to.equal(0);
    await root.mutate('secret.delete', { id: secret.id, environmentId });
    await untilServed(nodes, name, [2, 2]);
    await until(async () => (await rows())[0]?.fault, { what: 'the fault to be told' });
    expect((await running(id))?.reason).to.match(
      /it could not be reverted: .*SVC_SECRET_OLD, which is missing/,
    );
  });

  it('fails a rollout on its canary at once', async () => {
    const name = 'staged';
    const { id } = await drawPipeline(root, environmentId, soundGraph('.v = 1'), name);
    await deploy(id);
    for (const one of nodes) await one.report();
    await draw(id, '.v = 2');
    const { rolloutId } = await root.mutate<{ rolloutId: string }>('stagedRollout.create', {
      ...{ pipelineId: id, canarySelector: { ring: '0' }, healthCheckWindowMinutes: 10, changelog: 'a try' },
    });
    await untilServed(nodes, name, [2, 1]);
    const { checksum } = await nodeOf(first(), name);
    await first().report({ refused: { version: 2, checksum, error: 'no such codec' } }, { [name]: 1 });
    await untilServed(nodes, name, [1, 1]);
    await wakeRollout(test, rolloutId);
    const ended = await untilStatus(root, id, 'ROLLED_BACK');
    expect(ended.endReason).to.equal('Version 2 failed on 1 canary node: no such codec');
  });

  it('is taken back by every controller that the node may ask', async () => {
    const { databaseUrl, config } = test;
    const other = await startTestController({ databaseUrl, dataDir: config.dataDir });
    try {
      const { name } = await changed();
      const asked = async () => (await nodeOf(first(), name, other.url)).version;
      await until(async () => (await asked()) === 2, { what: 'the other controller to serve version 2' });
      for (const restarts of [1, 2]) await crash(first(), restarts);
      await until(async () => (await asked()) === 1, { what: 'the other controller to serve version 1' });
    } finally {
      await other.stop();
    }
  });
});
