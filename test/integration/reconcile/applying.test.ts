import { expect } from 'chai';
import { gitSyncOperations } from '../../../controller/delivery/bindings/index.ts';
import { listJobs } from '../../../controller/delivery/bindings/jobs/jobs-store.ts';
import { purgeTombstone } from '../../../controller/delivery/ownership/index.ts';
import { systemClock } from '../../../reconcilers/loops/clock.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { pathOf, reportLines, reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

describe('applying manifests', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);

  it('makes a deployed first version of each manifest, and writes nothing more', async () => {
    const sha = env.commit(
      { web: idleManifest('web'), orders: idleManifest('orders') },
      { message: 'Start with two\n\nmore words' },
    );
    const result = await env.pass();
    expect(result).to.deep.include({ outcome: 'applied', error: null });
    expect(result.counts).to.include({ created: 2, refused: 0, waiting: 0 });
    expect(await env.living()).to.deep.equal(['orders', 'web']);
    const web = await env.pipeline('web');
    expect(web).to.include({ managedBy: 'git', isDraft: false, version: 1, deployedVersion: 1 });
    const [version, ...more] = await env.versions(web.id);
    expect(more).to.deep.equal([]);
    expect(version).to.deep.equal({
      ...{ version: 1, changelog: 'Start with two', commit: sha, author: 'Ada Example' },
      ...{ path: pathOf('web'), source: 'git' },
    });
    expect(
      (await env.manifest('web')).conditions.map(({ type, status }) => `${type} ${status}`),
    ).to.deep.equal(['Parsed True', 'Validated True', 'Tested Unknown', 'Applied True']);
    expect((await env.binding()).appliedCommit?.sha).to.equal(sha);
    const before = await env.fingerprint();
    for (let n = 0; n < 2; n += 1) expect((await env.pass()).outcome).to.equal('unchanged');
    expect(await env.fingerprint()).to.equal(before);
  });

  it('makes one version of the one of many that changed, and touches no other', async () => {
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, idleManifest(`p${n}`)]));
    await env.apply(files);
    const sha = env.commit({ p7: idleManifest('p7', 'described') }, { message: 'Describe p7' });
    const result = await env.pass();
    expect(result.counts).to.include({ changed: 1, created: 0, unchanged: 8 });
    const changed = (await env.pipelines()).filter(({ version }) => version !== 1);
    expect(changed.map(({ name }) => name)).to.deep.equal(['p7']);
    expect(changed[0]).to.include({ version: 2, deployedVersion: 2, description: 'described' });
    const [, second] = await env.versions(changed[0]?.id ?? '');
    expect(second).to.include({ commit: sha, changelog: 'Describe p7', path: pathOf('p7') });
  });

  it('makes no version of a manifest that is reformatted or moved to another file', async () => {
    await env.apply({ web: idleManifest('web') });
    const web = await env.pipeline('web');
    const reformatted = `# a comment\n${idleManifest('web').replace('{ type: blackhole, inputs: [ticks] }', '\n      inputs:\n        - ticks\n      type: "blackhole"')}`;
    expect((await env.apply({ web: reformatted })).counts).to.include({ changed: 0, unchanged: 1 });
    await env.apply({ web: null, 'moved/elsewhere': idleManifest('web') });
    expect(await env.pipeline('web')).to.deep.equal(web);
    expect(await env.versions(web.id)).to.have.length(1);
  });

  for (const [by, first, second] of [
    ['uid', ', uid: 01J9Z6K3E8Q2', ', uid: 01J9Z6K3E8Q2'],
    ['previousName', '', ', previousName: web'],
  ] as const) {
    it(`keeps id and history through a rename by ${by}`, async () => {
      await env.apply({ web: idleManifest('web', '', first) });
      const before = await env.pipeline('web');
      const result = await env.apply({ web: idleManifest('shop', '', second) }, 'Rename');
      expect(result.counts).to.include({ renamed: 1, created: 0, deleted: 0 });
      expect(await env.pipelines()).to.have.length(1);
      expect(await env.pipeline('shop')).to.include({ id: before.id, version: 1, isDraft: false });
      expect(await env.manifestNames()).to.deep.equal(['shop']);
      expect((await env.pass()).outcome).to.equal('unchanged');
    });
  }

  it('gives the old name to a new object while the uid keeps the old one', async () => {
    await env.apply({ a: idleManifest('a', 'the first', ', uid: U1') });
    const first = await env.pipeline('a');
    const result = await env.apply({
      a: idleManifest('a', 'a newcomer'),
      b: idleManifest('b', 'the first', ', uid: U1'),
    });
    expect(result.counts, reportText(result)).to.include({ renamed: 1, created: 1, refused: 0 });
    expect(await env.pipeline('b')).to.include({ id: first.id, description: 'the first' });
    expect((await env.pipeline('a')).id).not.to.equal(first.id);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('follows deployed: false and back', async () => {
    const draft = `${idleManifest('web')}  deployed: false\n`;
    await env.apply({ web: draft });
    expect(await env.pipeline('web')).to.include({ isDraft: true, version: 1, deployedVersion: null });
    await env.apply({ web: idleManifest('web') });
    expect(await env.pipeline('web')).to.include({ isDraft: false, deployedVersion: 2 });
    await env.apply({ web: draft });
    expect(await env.pipeline('web')).to.include({ isDraft: true, deployedVersion: null });
  });

  it('leaves a tombstone of what was deleted, and restores it with its id and without a new version', async () => {
    await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
    const web = await env.pipeline('web');
    expect((await env.apply({ web: null })).counts).to.include({ deleted: 1 });
    expect(await env.living()).to.deep.equal(['other']);
    expect(await env.pipeline('web')).to.include({ tombstoned: true, isDraft: true, deployedVersion: null });
    expect(await env.manifestNames()).to.deep.equal(['other']);
    expect((await env.pass()).outcome).to.equal('unchanged');

    expect((await env.apply({ web: idleManifest('web') })).counts).to.include({ restored: 1, created: 0 });
    expect(await env.pipeline('web')).to.deep.equal(web);
    expect(await env.versions(web.id)).to.have.length(1);
  });

  it('purges a tombstone a day later, unless its object was restored', async () => {
    await env.apply({ web: idleManifest('web'), back: idleManifest('back'), other: idleManifest('other') });
    const [web, back] = [await env.pipeline('web'), await env.pipeline('back')];
    const deletedAt = Date.now();
    await env.apply({ web: null, back: null });
    const { rows } = await scene.db.raw(
      `SELECT key, run_at AS "runAt" FROM graphile_worker.jobs WHERE key IN (?, ?) ORDER BY key`,
      [`purge-tombstone:${web.id}`, `purge-tombstone:${back.id}`],
    );
    expect(rows).to.have.length(2);
    for (const { runAt } of rows)
      expect(runAt.getTime() - deletedAt).to.be.within(86_400_000 - 5_000, 86_400_000 + 60_000);
    await env.apply({ back: idleManifest('back') });
    expect(await purgeTombstone(scene.db, 'pipelines', web.id)).to.equal(true);
    expect(await purgeTombstone(scene.db, 'pipelines', back.id)).to.equal(false);
    expect((await env.pipelines()).map((one) => one.name)).to.deep.equal(['back', 'other']);
    expect(await env.versions(web.id)).to.deep.equal([]);

    expect((await env.apply({ web: idleManifest('web') })).counts).to.include({ created: 1, restored: 0 });
    expect((await env.pipeline('web')).id).not.to.equal(web.id);
  });

  it('does not apply a suspended manifest until it is resumed', async () => {
    await env.apply({ web: idleManifest('web') });
    const before = await env.pipeline('web');
    const result = await env.apply({ web: `${idleManifest('web', 'changed')}  suspend: true\n` });
    expect(result.counts).to.include({ waiting: 1, changed: 0 });
    expect(await env.pipeline('web')).to.deep.equal(before);
    expect(await env.condition('web', 'Applied')).to.include({ status: 'False', reason: 'Suspended' });
    await env.apply({ web: idleManifest('web', 'changed') });
    expect(await env.pipeline('web')).to.include({ version: 2, description: 'changed' });
    expect(await env.condition('web', 'Applied')).to.include({ status: 'True' });
  });

  it('applies only the newest of many commits, in one job that lists the others as skipped', async () => {
    await env.apply({ web: idleManifest('web') });
    const skipped: string[] = [];
    for (let n = 1; n <= 5; n += 1)
      skipped.push(env.commit({ web: idleManifest('web', `step ${n}`) }, { message: `Step ${n}` }));
    const newest = skipped.pop();
    const result = await env.pass();
    expect(result.commit?.sha).to.equal(newest);
    const web = await env.pipeline('web');
    expect((await env.versions(web.id)).map((one) => one.changelog)).to.deep.equal(['change', 'Step 5']);
    const jobs = await listJobs(scene.db, env.bindingId, { limit: 100 });
    expect(jobs.map((job) => [job.outcome, job.commit?.sha, job.commitCount])).to.deep.equal([
      ['applied', newest, 5],
      ['applied', jobs[1]?.commit?.sha, 1],
    ]);
    expect(jobs[0]?.skippedCommits).to.deep.equal(
      skipped.map((sha, index) => ({ sha, subject: `Step ${index + 1}` })).reverse(),
    );
    expect(reportLines(result)[1]).to.equal(
      `  5 commits, newest ${newest?.slice(0, 7)}; older ones were skipped`,
    );
    await env.pass({ trigger: 'syncNow' });
    expect((await listJobs(scene.db, env.bindingId, { limit: 1 }))[0]).to.include({ commitCount: 5 });
  });

  it('counts no commits where the applied one was merged from the side', async () => {
    const { repository } = env;
    const ada = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    await env.apply({ web: idleManifest('web') });
    const before = repository.git('rev-parse', 'main');
    const aside = repository.git(...ada, 'commit-tree', '-m', 'Another beginning', 'main^{tree}');
    const parents = ['-p', aside, '-p', before];
    const merge = repository.git(...ada, 'commit-tree', '-m', 'Merge', ...parents, 'main^{tree}');
    repository.git('update-ref', 'refs/heads/main', merge);
    await env.pass();
    const [job] = await listJobs(scene.db, env.bindingId, { limit: 1 });
    expect([job?.commit?.sha, job?.commitCount, job?.skippedCommits]).to.deep.equal([merge, 1, []]);
  });

  for (const [reason, hours] of [
    ['ahead', 1],
    ['behind', -1],
  ] as const)
    it(`records the times of jobs in order where the clock of the controller is ${reason}`, async () => {
      const clock = { ...systemClock, now: () => Date.now() + hours * 3_600_000 };
      await env.execute(gitSyncOperations.syncNow, {});
      env.commit({ web: idleManifest('web') });
      await env.pass({ clock });
      env.commit({ web: 'kind: [' });
      await env.pass({ clock });
      env.repository.git('update-ref', '-d', 'refs/heads/main');
      await env.pass({ clock });
      const { rows } = await scene.db.raw(
        `SELECT status, queued_at <= started_at AND started_at <= finished_at AS ordered,
           clock_timestamp() - finished_at < interval '1 minute' AS now FROM git_jobs WHERE binding_id = ? ORDER BY seq`,
        [env.bindingId],
      );
      expect(rows).to.deep.equal(
        ['completed', 'completed', 'failed'].map((status) => ({ status, ordered: true, now: true })),
      );
    });

  it('reports changes and deletions in the mode observe, and makes none', async () => {
    await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
    const { appliedCommit } = await env.binding();
    await scene.db('git_bindings').where({ id: env.bindingId }).update({ mode: 'observe' });
    const result = await env.apply({ web: null, new: idleManifest('new') });
    expect(result).to.include({ outcome: 'observed' });
    expect(reportText(result))
      .to.match(/new: would change/)
      .and.not.match(/broken|ADMIN/);
    expect(await env.living()).to.deep.equal(['other', 'web']);
    for (const name of ['web', 'new'])
      expect(await env.condition(name, 'Applied')).to.include({ status: 'False', reason: 'Observing' });
    expect((await env.binding()).appliedCommit).to.deep.equal(appliedCommit);
  });
});
