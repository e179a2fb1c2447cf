/** What one sees and says of the loop with git through the doors of a controller that runs. */
import { expect } from 'chai';
import type { GitJob, GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import type { Drift, DriftReport } from '../../../schemas/api/delivery/git-words.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { manifest, useTwoTeams } from '../../support/scenes/two-teams.ts';

describe('the loop with git, from outside', () => {
  const test = useController();
  const teams = useTwoTeams(test);

  const orders = { kind: 'Pipeline', name: 'orders' };
  const ours = () => ({ environmentId: teams.ours.environmentId });
  const report = () => teams.viewer.query<DriftReport>('gitSync.drift', ours());
  const drift = async (): Promise<Drift> => {
    const found = (await report()).objects.find(({ name }) => name === 'orders');
    if (!found) throw new Error('orders is not in the report');
    return found;
  };
  const status = () => teams.viewer.query<GitSyncStatus>('gitSync.status', ours());
  const applied = async () =>
    (await status()).manifests
      .find(({ name }) => name === 'orders')
      ?.conditions.find(({ type }) => type === 'Applied');
  const untilApplied = (reason: string) =>
    until(async () => (await applied())?.reason === reason, { what: `Applied with the reason ${reason}` });
  const beat = (configChecksum: string | undefined, more: Record<string, unknown> = {}) =>
    teams.ours.node.heartbeat(
      heartbeat({
        pipelines: [
          {
            pipelineId: teams.ours.pipelineId,
            version: 1,
            status: 'RUNNING',
            pid: 7,
            uptimeSeconds: 3,
            ...(configChecksum === undefined ? {} : { configChecksum }),
            ...more,
          },
        ],
      }),
    );

  it('shows differences of nodes, by the checksum of what they are served', async () => {
    await beat('sha256:something else');
    await until(async () => (await drift()).nodes?.differing[0]?.checksum === 'sha256:something else', {
      what: 'the heartbeat',
    });
    const other = await drift();
    expect(other.states).to.deep.equal(['nodes-drifted']);
    expect(other.explanation).to.match(/^1 node does not run what the database has accepted/);
    const { pipelines } = (await teams.ours.node.config()).json<{
      pipelines: { pipelineId: string; checksum: string }[];
    }>();
    const served = pipelines.find(({ pipelineId }) => pipelineId === teams.ours.pipelineId)?.checksum;
    expect(other.nodes?.differing[0]).to.include({ state: 'other', expected: served, host: 'ours-node' });
    await beat(served);
    await until(async () => (await drift()).nodes?.differing.length === 0, { what: 'the node to agree' });
    const same = await drift();
    expect(same).to.deep.include({
      states: ['same'],
      explanation: 'Git, the database and the nodes agree',
    });
    expect(same.nodes).to.deep.include({ total: 1, same: 1 });
    expect(same.lastApplied).to.include({ hash: same.git.hash, version: 1 });
    expect(same.database).to.include({ hash: same.git.hash, version: 1, deployed: true });
    const differing = await teams.viewer.query<DriftReport>('gitSync.drift', {
      ...ours(),
      differing: true,
    });
    expect(differing.objects).to.deep.equal([]);
  });

  it('shows differences of the database, while the policy leaves them', async () => {
    const configure = { ...ours(), mode: 'sync' };
    await teams.root.mutate('gitSync.configure', { ...configure, policy: { selfHeal: false } });
    expect((await status()).policy?.effective).to.include({ selfHeal: false, prune: true });
    await test.db('pipelines').where({ id: teams.ours.pipelineId }).update({ description: 'past git' });
    await teams.editor.mutate('gitSync.syncNow', ours());
    await untilApplied('Drifted');
    const found = await drift();
    expect(found.states).to.include('database-drifted');
    expect(found.explanation).to.match(/changed it past git.*selfHeal: false/);
    await teams.root.mutate('gitSync.configure', { ...configure, policy: { selfHeal: true } });
    await until(async () => !(await drift()).states.includes('database-drifted'), { what: 'healing' });
    // The condition is written after the object, and not any more by a pass that a suspension overtakes.
    await until(async () => (await applied())?.status === 'True', { what: 'the condition to say so' });
  });

  it('tells of a suspension of everything in the condition of each manifest', async () => {
    await teams.editor.mutate('gitSync.suspend', { ...ours(), reason: 'the move' });
    expect((await applied())?.message).to.match(/^Git is suspended here since .* by .*: the move\. /);
    expect(await applied()).to.include({ status: 'Unknown', reason: 'Suspended' });
    const { fault } = await teams.editor.call('mutation', 'gitSync.syncNow', ours());
    expect(fault?.data.code).to.equal('PRECONDITION_FAILED');
    await teams.editor.mutate('gitSync.resume', ours());
    expect(await applied()).to.include({ status: 'True' });
  });

  it('holds a spec until a newer one is pushed', async () => {
    await teams.editor.mutate('gitSync.hold', { ...ours(), ...orders, reason: 'it leaks' });
    await untilApplied('Held');
    expect((await drift()).states)
      .to.include('waiting')
      .and.not.include('refused');
    await teams.git.commit({ 'ours/orders.yaml': manifest('orders', '  description: newer\n') });
    const pushed = await teams.git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
    await untilApplied('Applied');
  });

  it('tells whoever pushes a plan over the guards what to do, and applies it once it is approved', async () => {
    await teams.root.mutate('gitSync.configure', { ...ours(), mode: 'sync', policy: { maxDeletes: 0 } });
    await teams.git.commit({
      'ours/orders.yaml': null,
      'ours/other.yaml': manifest('other'),
    });
    const pushed = await teams.git.push();
    expect(pushed.stderr).to.match(/nothing of this was applied/);
    expect(pushed.stderr).to.match(/let an ADMIN approve the plan/);
    const { waitingPlan, gate } = await status();
    expect(waitingPlan?.guards[0]).to.include({ guard: 'maxDeletes', limit: 0, value: 1 });
    expect(JSON.stringify(gate)).to.include('A plan waits for an approval');
    await teams.admin.mutate('gitSync.approvePlan', { ...ours(), hash: waitingPlan?.hash });
    await until(async () => (await status()).waitingPlan === null, {
      what: 'the approved plan to be applied',
    });
    const names = (await teams.viewer.query<{ name: string }[]>('pipeline.list', ours())).map(
      ({ name }) => name,
    );
    expect(names).to.deep.equal(['other']);
  });

  it('queues failed passes again, one or all', async () => {
    const configure = (branch: string) =>
      teams.root.mutate('gitSync.configure', { ...ours(), mode: 'sync', branch });
    const jobs = (of: 'failed' | 'completed') =>
      teams.viewer.query<GitJob[]>('gitSync.jobs', { ...ours(), status: of });
    await configure('nowhere');
    await until(async () => (await jobs('failed')).length > 0, { what: 'a pass that fails' });
    const [first] = await jobs('failed');
    await configure('main');
    await until(async () => (await status()).lastError === null, { what: 'a pass that goes through' });
    const { jobId } = await teams.editor.mutate<{ jobId: string }>('gitSync.retryJob', { jobId: first?.id });
    await until(async () => (await jobs('completed')).some(({ id }) => id === jobId), {
      what: 'the job to run',
    });
    const again = await teams.editor.call('mutation', 'gitSync.retryJob', { jobId });
    expect(again.fault?.data.code).to.equal('PRECONDITION_FAILED');
    const left = (await jobs('failed')).length;
    const { retried } = await teams.editor.mutate<{ retried: number }>('gitSync.retryAllFailed', ours());
    expect(retried).to.equal(left);
  });
});
