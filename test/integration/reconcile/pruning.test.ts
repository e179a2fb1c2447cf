import { expect } from 'chai';
import { gitSyncOverrides } from '../../../controller/delivery/bindings/index.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { pathOf, reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

describe('what was removed from the tree', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);
  /** The commit that holds web and orders. */
  let first: string;
  beforeEach(async () => {
    first = env.commit({ web: idleManifest('web'), orders: idleManifest('orders') });
    await env.pass();
  });

  const both = ['orders', 'web'];
  const deployedOf = async () => (await env.pipelines()).map((one) => one.deployedVersion);
  const forcePush = (files: Record<string, string | null>, message = 'rewritten') =>
    env.commit(files, { message, orphan: true });

  it('is kept while another manifest is broken or refused, and pruned once that is repaired', async () => {
    const result = await env.apply({ web: null, orders: 'kind: Pipeline\n  nonsense' });
    expect(result).to.deep.include({ outcome: 'partial' });
    expect(result.counts).to.include({ deleted: 0 });
    expect(await env.living()).to.deep.equal(both);
    expect(await env.condition('web', 'Applied')).to.include({ status: 'False', reason: 'PruneWaits' });
    const refused = idleManifest('orders').replace('inputs: [ticks]', 'inputs: [tick]');
    expect((await env.apply({ orders: refused })).counts).to.include({ refused: 1, deleted: 0 });
    await env.apply({ orders: idleManifest('orders') });
    expect(await env.living()).to.deep.equal(['orders']);
  });

  it('waits after a rewritten history in every pass, and is pruned with the next commit on top', async () => {
    const rewritten = forcePush({ orders: idleManifest('orders', 'rewritten'), web: null });
    const result = await env.pass();
    expect(reportText(result)).to.match(/web: its manifest is gone; kept: history was rewritten/);
    expect((await env.pipeline('orders')).description, 'the database follows all the same').to.equal(
      'rewritten',
    );
    expect((await env.binding()).headCommit?.sha).to.equal(rewritten);
    for (let n = 0; n < 2; n += 1) {
      await env.pass();
      expect(await env.living(), `pass ${n + 2} over the same commit`).to.deep.equal(both);
    }
    expect(await env.condition('web', 'Applied')).to.include({ reason: 'HistoryRewritten' });
    await env.apply({ orders: idleManifest('orders', 'on top') });
    expect(await env.living()).to.deep.equal(['orders']);
  });

  it('waits also when history was rewritten twice', async () => {
    for (const words of ['once', 'twice']) {
      forcePush({ orders: idleManifest('orders', words) });
      await env.pass();
      await env.pass();
      expect(await env.living(), words).to.deep.equal(both);
    }
    await env.apply({ orders: idleManifest('orders', 'on top') });
    expect(await env.living()).to.deep.equal(['orders']);
  });

  it('waits when the branch was set back to an earlier commit, even one that allowed deletions', async () => {
    await env.apply({ third: idleManifest('third') });
    env.repository.git('update-ref', 'refs/heads/main', first);
    await env.pass();
    await env.pass();
    expect(await env.living()).to.deep.equal(['orders', 'third', 'web']);
    const allowing = env.commit({ web: null }, { message: 'Remove web\n\nHeadgate-Allow-Delete: 5' });
    await env.pass();
    await env.apply({ web: idleManifest('web'), third: idleManifest('third') });
    env.repository.git('update-ref', 'refs/heads/main', allowing);
    await env.pass();
    expect(await env.living()).to.deep.equal(['orders', 'third', 'web']);
  });

  it('waits where a rewritten history without the folder allows deletions', async () => {
    env.repository.git('update-ref', '-d', 'refs/heads/main');
    env.repository.commit({ 'README.md': 'other' }, { message: 'other\n\nHeadgate-Allow-Delete: 9' });
    for (let n = 0; n < 2; n += 1) expect((await env.pass()).counts).to.include({ deleted: 0, waiting: 2 });
    expect((await env.pass({ remembering: false })).counts).to.include({ deleted: 0 });
    expect(await env.living()).to.deep.equal(both);
  });

  it('waits after a rewritten history where something else kept it at first', async () => {
    await env.apply({ web2: idleManifest('web2') });
    await env.execute(gitSyncOverrides.suspend, { kind: 'Pipeline', name: 'web2' });
    env.repository.git('update-ref', 'refs/heads/main', first);
    await env.pass();
    await env.execute(gitSyncOverrides.resume, { kind: 'Pipeline', name: 'web2' });
    await env.setPolicy({ prune: false });
    await env.pass();
    await env.setPolicy({});
    await env.pass();
    expect(await env.living()).to.deep.equal([...both, 'web2']);
    env.repository.commit({ 'README.md': 'on top' });
    await env.pass();
    expect(await env.living()).to.deep.equal(both);
  });

  it('leaves no old commit recorded as skipped after a rewritten history', async () => {
    forcePush({ orders: idleManifest('orders') });
    for (let n = 0; n < 55; n += 1) env.commit({ orders: idleManifest('orders', `step ${n}`) });
    await env.pass();
    const jobs = await scene.db('git_jobs').where({ binding_id: env.bindingId });
    expect(jobs.map((job) => [job.outcome, job.skipped_commits])).to.deep.include(['applied', []]);
    expect(jobs.flatMap((job) => job.skipped_commits)).to.deep.equal([]);
  });

  it('is kept with an error while the branch is gone, and nothing has changed when it is back', async () => {
    const before = await env.pipelines();
    env.repository.git('update-ref', '-d', 'refs/heads/main');
    const result = await env.pass();
    expect(result).to.include({ outcome: 'failed' });
    expect((await env.binding()).lastError).to.match(/branch "main" does not exist/);
    expect(await env.pipelines()).to.deep.equal(before);
    env.repository.git('update-ref', 'refs/heads/main', first);
    expect((await env.pass()).outcome).to.equal('unchanged');
    expect((await env.binding()).lastError).to.equal(null);
    expect(await env.pipelines()).to.deep.equal(before);
  });

  it('has one recorded failure while it lasts, and one for each request', async () => {
    env.repository.git('update-ref', '-d', 'refs/heads/main');
    const failed = () => scene.db('git_jobs').where({ binding_id: env.bindingId, status: 'failed' });
    for (let n = 0; n < 3; n += 1) await env.pass();
    expect(await failed()).to.have.length(1);
    await env.pass({ trigger: 'syncNow' });
    expect(await failed()).to.have.length(2);
  });

  it('is kept while the path is gone, and nothing has changed when it is back', async () => {
    const before = await env.pipelines();
    env.repository.commit({ [pathOf('web')]: null, [pathOf('orders')]: null, 'README.md': 'moved' });
    const result = await env.pass();
    expect(reportText(result)).to.match(/the folder environments\/production does not exist/);
    expect(await env.pipelines()).to.deep.equal(before);
    expect(await env.condition('web', 'Applied')).to.include({ status: 'False', reason: 'Guarded' });
    await env.pass();
    expect(await deployedOf()).to.deep.equal([1, 1]);
    expect((await env.apply({ web: idleManifest('web'), orders: idleManifest('orders') })).outcome).to.equal(
      'unchanged',
    );
    expect(await env.pipelines()).to.deep.equal(before);
    expect(await env.condition('web', 'Applied')).to.include({ status: 'True' });
  });

  it('waits when the last manifest goes, until a commit allows as many deletions', async () => {
    env.repository.commit({
      [pathOf('web')]: null,
      [pathOf('orders')]: null,
      'environments/production/README.md': 'x',
    });
    expect(reportText(await env.pass())).to.match(/write Headgate-Allow-Delete: <count>/);
    expect(await env.living()).to.deep.equal(both);
    env.repository.commit({ 'README.md': 'x' }, { message: 'Sure\n\nHeadgate-Allow-Delete: 1' });
    await env.pass();
    expect(await env.living(), 'one is not enough for two').to.deep.equal(both);
    env.repository.commit({ 'README.md': 'y' }, { message: 'Sure\n\nHeadgate-Allow-Delete: 2' });
    expect((await env.pass()).counts).to.include({ deleted: 2, waiting: 0 });
    expect(await env.living()).to.deep.equal([]);
  });

  it('is pruned by a commit that allows it and removes the whole folder', async () => {
    env.commit({ web: null, orders: null }, { message: 'Close down\n\nHeadgate-Allow-Delete: 2' });
    expect((await env.pass()).counts).to.include({ deleted: 2 });
    expect(await env.living()).to.deep.equal([]);
  });

  for (const [policy, reason] of [
    ['never', 'PruneRefused'],
    ['confirm', 'PruneWaits'],
  ] as const) {
    it(`is kept with a condition where its annotation was headgate/prune: ${policy}`, async () => {
      const annotated = idleManifest('web', '', `, annotations: { headgate/prune: ${policy} }`);
      await env.apply({ web: annotated });
      const result = await env.apply({ web: null });
      expect(result.counts).to.include({ deleted: 0, waiting: 1 });
      expect(await env.living()).to.deep.equal(both);
      expect(await env.condition('web', 'Applied')).to.include({ status: 'False', reason });
      expect((await env.manifest('web')).prunePending).to.equal(true);
      await env.apply({ web: annotated });
      expect((await env.manifest('web')).prunePending).to.equal(false);
      expect(await env.condition('web', 'Applied')).to.include({ status: 'True' });
    });
  }

  it('is kept in a repository that was emptied', async () => {
    forcePush({});
    await env.pass();
    await env.pass();
    expect(await env.living()).to.deep.equal(both);
    expect(await deployedOf()).to.deep.equal([1, 1]);
  });

  it('is kept when the database is a day older than the branch', async () => {
    const older = await env.binding();
    await env.apply({ third: idleManifest('third') });
    await env.apply({ web: idleManifest('web', 'newer') });
    // As after a restore of a backup from before `third`.
    await scene.db('git_manifests').where({ binding_id: env.bindingId, name_key: 'third' }).delete();
    await scene.db('pipelines').where({ environment_id: env.id, name: 'third' }).delete();
    await scene
      .db('git_bindings')
      .where({ id: env.bindingId })
      .update({
        head_commit: JSON.stringify(older.headCommit),
        applied_commit: JSON.stringify(older.appliedCommit),
      });
    const result = await env.pass();
    expect(result.counts).to.include({ created: 1, deleted: 0, waiting: 0 });
    expect(await env.living()).to.deep.equal(['orders', 'third', 'web']);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });
});
