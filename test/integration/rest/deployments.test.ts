/** A deploy that is waited for, and one that is followed: what the nodes report decides. */
import { expect } from 'chai';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { draftPipeline, makeKey, type RestCall, restClient, useRest } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

interface Deployed {
  versionId: string;
  versionNumber: number;
  deployment?: { id: string; state: string; reason: string; nodeCounts: { total: number } };
}

describe('a deployment by REST', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  const rest = useRest(test, teams);
  const call: RestCall = (...request) => rest.call(...request);
  let made = 0;

  const draft = () => draftPipeline(teams.root, teams.ours.environmentId, `followed ${++made}`);
  const deploy = async (id: string, query = '', client = call): Promise<Deployed> => {
    const answer = await client('POST', `/pipelines/${id}/deploy${query}`, { body: { changelog: '' } });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Deployed>();
  };
  const follow = async (versionId: string) =>
    (await call('GET', `/deployments/${versionId}`)).json<{
      deployment: NonNullable<Deployed['deployment']>;
    }>().deployment;
  const report = (pipelineId: string, version: number) =>
    teams.ours.node.heartbeat(
      heartbeat({
        pipelines: [{ pipelineId, version, status: 'RUNNING', pid: 7, uptimeSeconds: 3, eventsIn: 1 }],
      }),
    );

  it('is answered at once without `wait`, as ever, and can be followed to its end', async () => {
    const id = await draft();
    const { versionId, ...rest } = await deploy(id);
    expect(rest).to.deep.equal({ success: true, versionNumber: 1 });
    expect(await follow(versionId)).to.include({ id: versionId, pipelineId: id, state: 'IN_PROGRESS' });
    await report(id, 1);
    await until(async () => (await follow(versionId)).state === 'SUCCEEDED', { what: 'the version to run' });
    const second = await deploy(id);
    expect((await follow(versionId)).state).to.equal('SUPERSEDED');
    await call('POST', `/pipelines/${id}/undeploy`);
    expect((await follow(second.versionId)).state).to.equal('UNDEPLOYED');
  });

  it('is answered with `wait` as soon as it runs, to a key that may deploy and not read', async () => {
    const { key } = await makeKey(teams.root, teams.ours.environmentId, ['pipelines.deploy']);
    const id = await draft();
    const waiting = deploy(id, '?wait=60', restClient(test.url, key));
    await until(async () => (await test.db('pipelines').where({ id }).first('is_draft')).is_draft === false, {
      what: 'the deploy',
    });
    await report(id, 1);
    const { deployment, versionId } = await waiting;
    expect(deployment).to.include({ id: versionId, state: 'SUCCEEDED' });
  });

  it('is answered when the time is over, with where it stands', async () => {
    const { deployment } = await deploy(await draft(), '?wait=1');
    expect(deployment?.state).to.equal('IN_PROGRESS');
    expect(deployment?.reason).to.be.a('string').with.length.above(5);
  });

  it('waits for 1 to 60 seconds', async () => {
    const id = await draft();
    for (const wait of ['0', '61', 'long']) {
      const answer = await call('POST', `/pipelines/${id}/deploy?wait=${wait}`, { body: { changelog: '' } });
      expect(answer.status, wait).to.equal(400);
      expect(answer.json()).to.include({ code: 'BAD_REQUEST' });
    }
  });

  it('is made once by one Idempotency-Key, however long the second request waits', async () => {
    const id = await draft();
    const send = (query: string) =>
      call('POST', `/pipelines/${id}/deploy${query}`, {
        body: { changelog: '' },
        headers: { 'idempotency-key': `waited-${id}` },
      });
    const [first, again] = [await send(''), await send('?wait=1')];
    expect(again.headers['idempotent-replayed']).to.equal('true');
    expect(again.json()).to.deep.include(first.json());
    expect(again.json<Deployed>().deployment?.state).to.equal('IN_PROGRESS');
  });
});
