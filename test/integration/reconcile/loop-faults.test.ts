/** What may come in the way of a pass over git: it goes on as if nothing had been. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { listJobs } from '../../../controller/delivery/bindings/jobs/jobs-store.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { patient } from '../../support/harness/patience.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { pathOf } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

const HOUR = "interval '1 hour'";

describe('a pass over git', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);

  const jobs = () => listJobs(scene.db, env.bindingId, { limit: 100 });
  const pending = async (id: string) => {
    await scene.db('git_jobs').insert({
      id,
      binding_id: env.bindingId,
      type: 'pass',
      status: 'pending',
      trigger: 'syncNow',
    });
  };
  /** A commit on top of the branch whose tree got lost. */
  const headWithoutTree = () => {
    const { repository } = env;
    const parent = repository.git('rev-parse', 'refs/heads/main');
    const who = 'Ada Example <ada@example.org> 1800000000 +0000';
    const text = `tree ${'d'.repeat(40)}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\nlost\n`;
    const file = join(repository.folder, 'commit');
    writeFileSync(file, text);
    repository.git(
      'update-ref',
      'refs/heads/main',
      repository.git('hash-object', '-t', 'commit', '-w', file),
    );
  };
  const jobOf = async (id: string) => (await jobs()).find((one) => one.id === id);

  describe('while it plans', () => {
    it('does not answer who asks for another meanwhile: that one waits for the next pass', async () => {
      await env.apply({ web: idleManifest('web') });
      const id = `asked-${env.id}`.slice(0, 60);
      let asked = false;
      env.commit({ web: idleManifest('web', 'second') });
      await env.pass({
        fence: async () => {
          if (asked) return;
          asked = true;
          env.commit({ web: idleManifest('web', 'third') });
          await pending(id);
        },
      });
      expect(await jobOf(id)).to.include({ status: 'pending', outcome: null });
      expect(await env.pipeline('web')).to.include({ version: 2, description: 'second' });
      await env.pass();
      expect(await jobOf(id)).to.include({ status: 'completed', outcome: 'applied' });
      expect(await env.pipeline('web')).to.include({ version: 3, description: 'third' });
    });

    it('and is stopped says nothing of the commit: neither that it was applied, nor that nothing was to do', async () => {
      await env.apply({ web: idleManifest('web') });
      const before = await env.fingerprint();
      const sha = env.commit({ web: idleManifest('web', 'second') });
      const stop = new AbortController();
      stop.abort(new Error('the deadline'));
      const thrown = await env.pass({ signal: stop.signal }).then(
        () => null,
        (error: Error) => error.message,
      );
      expect(thrown).to.match(/the deadline/);
      expect(await env.fingerprint()).to.equal(before);
      expect((await env.binding()).headCommit?.sha).not.to.equal(sha);
      expect((await env.pass()).outcome).to.equal('applied');
    });

    it('and cannot read what there is fails; it never takes that for nothing to do', async () => {
      await env.apply({ web: idleManifest('web'), orders: idleManifest('orders') });
      headWithoutTree();
      const result = await env.pass();
      expect(result).to.include({ outcome: 'failed' });
      expect(result.error).to.match(/cannot be read/);
      expect(await env.living()).to.deep.equal(['orders', 'web']);
      expect((await jobs())[0]).to.include({ status: 'failed', outcome: 'failed' });
    });
  });

  describe('when the clock is set back by an hour', () => {
    /** Everything that was recorded until now, was an hour later by the clock that is right now. */
    async function setBack(db: TestDb) {
      await db.raw(
        `UPDATE git_jobs SET queued_at = queued_at + ${HOUR}, started_at = started_at + ${HOUR},
           finished_at = finished_at + ${HOUR} WHERE binding_id = ?`,
        [env.bindingId],
      );
      await db.raw(`UPDATE pipelines SET updated_at = updated_at + ${HOUR} WHERE environment_id = ?`, [
        env.id,
      ]);
    }

    it('goes on, and its job is the newest', async () => {
      await env.apply({ web: idleManifest('web') });
      await setBack(scene.db);
      expect((await env.apply({ web: idleManifest('web', 'second') })).outcome).to.equal('applied');
      const [newest, older] = await jobs();
      expect(newest?.counts).to.include({ changed: 1 });
      expect(older?.counts).to.include({ created: 1 });
      expect((await env.pass()).outcome).to.equal('unchanged');
    });

    it('gives its result to the job that was asked for last, whatever the clock said', async () => {
      const [first, last] = [`first-${env.id}`.slice(0, 60), `last-${env.id}`.slice(0, 60)];
      await pending(first);
      await setBack(scene.db);
      await pending(last);
      await env.apply({ web: idleManifest('web') });
      expect(await jobOf(last)).to.include({ outcome: 'applied' });
      expect(await jobOf(first)).to.include({ outcome: 'skipped' });
    });

    it('keeps the jobs of now, though five hundred are of the hour to come', async () => {
      await scene.db.raw(
        `INSERT INTO git_jobs (id, binding_id, type, status, outcome, trigger)
         SELECT 'old-' || ? || n, ?, 'pass', 'completed', 'unchanged', 'timer' FROM generate_series(1, 500) n`,
        [env.id, env.bindingId],
      );
      await setBack(scene.db);
      await env.apply({ web: idleManifest('web') });
      expect((await jobs())[0]?.counts).to.include({ created: 1 });
      const { count } = (await scene.db('git_jobs').where({ binding_id: env.bindingId }).count().first()) as {
        count: string;
      };
      expect(Number(count)).to.equal(500);
    });
  });

  it('refuses files whose names only differ in case or form, and deletes neither what runs nor its history', async () => {
    for (const [one, other] of [
      ['web', 'WEB'],
      ['caf\u00e9', 'cafe\u0301'],
    ] as const) {
      const here = await scene.environment();
      await here.apply({ [one]: idleManifest('web') });
      const before = await here.pipeline('web');
      const result = await here.apply({ [other]: idleManifest('orders'), safe: idleManifest('safe') });
      expect(result.counts).to.include({ deleted: 0 });
      expect(result.counts.refused).to.be.greaterThan(0);
      expect(await here.pipeline('web')).to.deep.equal(before);
      const told = await scene
        .db('git_import_errors')
        .where({ binding_id: here.bindingId })
        .select('path', 'message');
      const text = JSON.stringify(told);
      expect(text).to.include(JSON.stringify(pathOf(one)).slice(1, -1));
      expect(text).to.include(JSON.stringify(pathOf(other)).slice(1, -1));
      expect((await here.apply({ [other]: null })).counts).to.include({ refused: 0, deleted: 0 });
      expect(await here.pipeline('web')).to.deep.equal(before);
    }
  });

  it('takes two thousand files, and then one of them', async function () {
    this.timeout(60_000);
    const COUNT = 2_000;
    const files = Object.fromEntries(
      Array.from({ length: COUNT }, (_, n) => [`p${n}`, idleManifest(`p${n}`)]),
    );
    const first = await env.apply(files);
    expect(first.counts).to.include({ created: COUNT, refused: 0 });
    const again = performance.now();
    const second = await env.apply({
      p777: idleManifest('p777', 'changed'),
      p888: idleManifest('p888').replace('inputs: [ticks]', 'inputs: [tick]'),
    });
    const secondMs = performance.now() - again;
    expect(second.counts).to.include({ changed: 1, refused: 1, deleted: 0, unchanged: COUNT - 2 });
    expect(secondMs).to.be.lessThan(patient(5_000));
    const { count } = (await scene
      .db('pipeline_versions as v')
      .join('pipelines as p', 'p.id', 'v.pipeline_id')
      .where('p.environment_id', env.id)
      .count()
      .first()) as { count: string };
    expect(Number(count)).to.equal(COUNT + 1);
  });
});
