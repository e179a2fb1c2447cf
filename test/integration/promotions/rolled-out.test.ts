/** From the merge of a promotion's pull request to what nodes run: when it is deployed, and what it says until then. */
import { expect } from 'chai';
import { runPromotionPass } from '../../../reconcilers/promotions/pass.ts';
import type { ConfigResponse } from '../../../schemas/agent/protocol.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import type { Promotion } from '../../../schemas/api/delivery/promotions.ts';
import { enrollNode, heartbeat, type TestNode } from '../../support/agents/agent-client.ts';
import { drawPipeline, soundGraph } from '../../support/fixtures/graphs.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { makeTestEnvironments, type TestEnvironments } from '../../support/scenes/places.ts';

describe('a promotion that was merged', function () {
  this.timeout(120_000);
  let test: TestController;
  let places: TestEnvironments;
  let target: GitBindingScene;
  let node: TestNode;
  let made = 0;

  before(async () => {
    test = await startTestController();
    places = await makeTestEnvironments(test);
    target = await bindToGit(test, places, { 'pipelines/.keep': '' });
    const { environmentId } = target;
    const { token } = await places.admin.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId,
    });
    node = await enrollNode(test.url, token, { hostname: 'edge-1' });
    await node.heartbeat(heartbeat());
  });
  after(() => test?.stop());

  const get = (requestId: string) => places.editor.query<Promotion>('promotion.get', { requestId });
  const says = async (requestId: string, what: (promotion: Promotion) => boolean): Promise<Promotion> => {
    let seen: Promotion | undefined;
    await until(
      async () => {
        seen = await get(requestId);
        return what(seen);
      },
      { what: () => JSON.stringify(seen), everyMs: 100, timeoutMs: 40_000 },
    );
    return seen as Promotion;
  };
  const drawn = async (name: string) =>
    (await drawPipeline(places.editor, places.environmentId, soundGraph(), name)).id;
  async function changed(name: string): Promise<string> {
    const row = await test.db('pipelines').where({ environment_id: places.environmentId, name }).first('id');
    await places.editor.mutate('pipeline.saveGraph', { pipelineId: row.id, ...soundGraph('.step = 2') });
    return row.id;
  }
  /** Asked for and merged here: a new pipeline, or another state of one. */
  async function merged(again?: string): Promise<{ requestId: string; name: string }> {
    if (again === undefined) made += 1;
    const name = again ?? `orders ${made}`;
    const pipelineId = again === undefined ? await drawn(name) : await changed(name);
    const { environmentId } = target;
    const { requestId, pullRequest } = await places.editor.mutate<{
      requestId: string;
      pullRequest: { number: number };
    }>('promotion.initiate', { pipelineId, targetEnvironmentId: environmentId });
    const { number } = pullRequest;
    const { headSha } = await places.editor.query<{ headSha: string }>('pullRequest.get', {
      environmentId,
      number,
    });
    await places.admin.mutate('pullRequest.merge', { environmentId, number, method: 'merge', headSha });
    return { requestId, name };
  }
  const runs = async (status: string, more: object = {}) => {
    const { pipelines } = (await node.config()).json<ConfigResponse>();
    const reported = pipelines.map(({ pipelineId, version }) => ({
      ...{ pipelineId, version, status, pid: 7, uptimeSeconds: 3, eventsIn: 1 },
      ...more,
    }));
    await node.heartbeat(heartbeat({ pipelines: reported }));
    return reported.length;
  };

  /** As long as it takes, the node runs whatever it is told to. */
  async function runsAndIsDeployed(requestId: string): Promise<Promotion> {
    await until(
      async () => {
        await runs('RUNNING');
        return (await get(requestId)).status === 'DEPLOYED';
      },
      // A node may poll 120 times a minute.
      { what: 'it to be deployed', everyMs: 500, timeoutMs: 40_000 },
    );
    return get(requestId);
  }

  it('waits for the nodes, says that it crashes there, and is deployed once it runs', async () => {
    const { requestId, name } = await merged();
    await until(async () => (await runs('STARTING')) === made, { what: 'the node to be told', everyMs: 200 });
    expect(await get(requestId)).to.include({ status: 'AWAITING_PR_MERGE', targetVersion: null });
    await runs('CRASHED', { lastError: 'no such file' });
    await says(requestId, ({ lastError }) =>
      /^Merged and rolled out, but not healthy: Crashed on edge-1: no such file/.test(lastError ?? ''),
    );
    const done = await runsAndIsDeployed(requestId);
    expect(done).to.include({
      lastError: null,
      targetVersion: 1,
      targetPipelineId: await target.idOf('pipelines', name),
    });
  });

  it('is not waited for by nodes that do not answer, which it names', async () => {
    const { environmentId } = target;
    const { token } = await places.admin.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId,
    });
    const away = await enrollNode(test.url, token, { hostname: 'edge-2' });
    const { requestId } = await merged();
    const done = await runsAndIsDeployed(requestId);
    expect(done).to.deep.include({ silentNodes: ['edge-2'], lastError: null });
    expect(done.note).to.equal('Not waited for 1 node that does not answer: edge-2');
    await test.db('nodes').where({ id: away.nodeId }).delete();
  });

  it('says that the plan waits for an ADMIN, and goes on once that is approved', async () => {
    await target.policy({ maxNodeRestartPercent: 0 });
    // The node runs the one of before: another version restarts it.
    const { requestId } = await merged('orders 1');
    await says(requestId, ({ lastError }) => /^Merged, but not applied \(Guarded\): /.test(lastError ?? ''));
    const { environmentId } = target;
    const { waitingPlan } = await places.admin.query<GitSyncStatus>('gitSync.status', { environmentId });
    await places.admin.mutate('gitSync.approvePlan', { environmentId, hash: waitingPlan?.hash });
    expect(await runsAndIsDeployed(requestId)).to.include({ targetVersion: 2 });
    await target.policy({});
  });

  it('says that git is suspended, and goes on once it is not', async () => {
    const { environmentId } = target;
    await places.editor.mutate('gitSync.suspend', { environmentId, reason: 'night shift' });
    const { requestId } = await merged();
    await says(requestId, ({ lastError }) => /^Merged, but git is suspended/.test(lastError ?? ''));
    await places.editor.mutate('gitSync.resume', { environmentId });
    await runsAndIsDeployed(requestId);
  });

  it('is deployed once, however many look at it, and never by one who leads no more', async () => {
    const { requestId } = await merged();
    const ctx = { ...test.controller.systemContext('promotions') };
    const late = { ...ctx, fence: () => Promise.reject(new Error('the lease was lost')) };
    await until(async () => (await runs('RUNNING')) === made, { what: 'the node to be told', everyMs: 200 });
    const looks = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => runPromotionPass(ctx, test.controller.execute, requestId)),
      ...Array.from({ length: 3 }, () => runPromotionPass(late, test.controller.execute, requestId)),
    ]);
    for (const look of looks)
      if (look.status === 'rejected') expect(String(look.reason)).to.contain('the lease was lost');
    await says(requestId, ({ status }) => status === 'DEPLOYED');
    const audit = await test.db('audit_log').where({ entity_id: requestId, action: 'promotion.deployed' });
    expect(audit).to.have.length(1);
  });
});
