import { expect } from 'chai';
import { convergePipelines } from '../../../controller/pipelines/index.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import type { Execute } from '../../../controller/platform/operation/operation.ts';
import { createLease } from '../../../controller/platform/runtime/lease.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { readCommit } from '../../../reconcilers/source/index.ts';
import type { ManifestSpec } from '../../../schemas/manifests/index.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { pathOf, reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

describe('converging, whatever comes between', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);

  const failed = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => expect.fail('it went through'),
      (error: unknown) => error,
    );
  /** Runs the operations up to the given number, then does as it is told. */
  const interruptedAfter = (count: number, interrupt: () => void): Execute => {
    let done = 0;
    return async (op, ctx, input) => {
      const result = await scene.execute(op, ctx, input);
      done += 1;
      if (done === count) interrupt();
      return result;
    };
  };

  describe('from drift', () => {
    beforeEach(async () => {
      await env.apply({ web: idleManifest('web') });
      await env.apply({ web: idleManifest('web', 'second') });
    });
    const inSql = async (sql: string) => {
      const { id } = await env.pipeline('web');
      await scene.db.raw(sql, { id });
    };
    const rows: { reason: string; sql: string }[] = [
      {
        reason: 'it was undeployed',
        sql: 'UPDATE pipelines SET is_draft = true, deployed_version_id = NULL, deployed_at = NULL WHERE id = :id',
      },
      {
        reason: 'an earlier version was deployed',
        sql: `UPDATE pipelines SET deployed_version_id = (SELECT v.id FROM pipeline_versions v WHERE v.pipeline_id = :id AND v.version = 1) WHERE id = :id`,
      },
      {
        reason: 'it was set back to an earlier version altogether',
        sql: `UPDATE pipelines SET latest_version_id = v.id, deployed_version_id = v.id FROM pipeline_versions v WHERE v.pipeline_id = pipelines.id AND v.version = 1 AND pipelines.id = :id`,
      },
      {
        reason: 'it was taken for deleted',
        sql: 'UPDATE pipelines SET tombstoned_at = now(), is_draft = true, deployed_version_id = NULL WHERE id = :id',
      },
    ];
    for (const { reason, sql } of rows) {
      it(`sets it back where ${reason}, under the same id, and says so`, async () => {
        const before = await env.pipeline('web');
        await inSql(sql);
        const result = await env.pass();
        expect(result.outcome).to.equal('applied');
        expect(reportText(result)).to.match(/web: (set back to what git says|back with its id)/);
        const after = await env.pipeline('web');
        expect(after).to.include({ id: before.id, isDraft: false, tombstoned: false, description: 'second' });
        const config = await scene
          .db('pipeline_versions')
          .where({ pipeline_id: before.id, version: after.deployedVersion ?? 0 })
          .first('spec_hash');
        expect(config.spec_hash).to.equal((await env.manifest('web')).appliedHash);
        expect((await env.pass()).outcome).to.equal('unchanged');
      });
    }

    it('makes it anew where the row is gone', async () => {
      await inSql('DELETE FROM pipelines WHERE id = :id');
      expect((await env.pass()).outcome).to.equal('applied');
      expect(await env.pipeline('web')).to.include({ version: 1, deployedVersion: 1, description: 'second' });
      expect((await env.pass()).outcome).to.equal('unchanged');
    });
  });

  it('goes on after a pass that was stopped in the middle, without a second version of anything', async () => {
    env.commit({ a: idleManifest('a'), b: idleManifest('b'), c: idleManifest('c') });
    const stop = new AbortController();
    const error = await failed(
      env.pass({
        signal: stop.signal,
        batch: 1,
        execute: interruptedAfter(2, () => stop.abort(new Error('the deadline'))),
      }),
    );
    expect((error as Error).message).to.equal('the deadline');
    expect(await env.living()).to.deep.equal(['a', 'b']);
    expect((await env.binding()).appliedCommit, 'nothing is recorded of half a pass').to.equal(null);
    await env.pass();
    expect((await env.pipelines()).map((one) => [one.name, one.version, one.deployedVersion])).to.deep.equal([
      ['a', 1, 1],
      ['b', 1, 1],
      ['c', 1, 1],
    ]);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('recognises what was applied just before the process was killed', async () => {
    await env.apply({ web: idleManifest('web') });
    const sha = env.commit({ web: idleManifest('web', 'second') });
    const desired = await env.repository.read(sha);
    const manifest = desired.manifests[0]!;
    const { id } = await env.pipeline('web');
    const commit = await readCommit(env.repository.repo, sha);
    await scene.execute(convergePipelines, scene.context(env.id), {
      environmentId: env.id,
      commit: { sha, author: commit.author, subject: commit.subject, message: commit.message },
      items: [
        {
          objectId: id,
          name: manifest.name,
          uid: null,
          labels: {},
          spec: manifest.spec as ManifestSpec<'Pipeline'>,
          specHash: manifest.hash,
          path: pathOf('web'),
        },
      ],
    });
    await env.pass();
    expect(await env.pipeline('web')).to.include({ id, version: 2, deployedVersion: 2 });
    expect(await env.versions(id)).to.have.length(2);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('writes each version and its audit entry together or not at all', async () => {
    env.commit({ web: idleManifest('web') });
    let transactions = 0;
    const error = await failed(
      env.pass({
        fence: async () => {
          transactions += 1;
          throw new DomainError('UNAVAILABLE', 'another controller leads');
        },
      }),
    );
    expect(error).to.be.instanceOf(DomainError);
    expect(transactions).to.equal(1);
    expect(await env.pipelines()).to.deep.equal([]);
    expect(await scene.db('audit_log').where({ environment_id: env.id })).to.deep.equal([]);
  });

  it('leaves the notes of what others changed to the controller that leads', async () => {
    await env.apply({ web: idleManifest('web') });
    await scene.db('pipelines').where({ environment_id: env.id }).update({ description: 'by hand' });
    const notes = () => scene.db('object_changes').where({ environment_id: env.id });
    expect(await notes()).to.have.length(1);
    const fence = async () => {
      throw new DomainError('UNAVAILABLE', 'another controller leads');
    };
    expect(await failed(env.pass({ fence }))).to.be.instanceOf(DomainError);
    expect(await notes()).to.have.length(1);
    expect((await env.pass()).counts).to.include({ changed: 1 });
    expect(await notes()).to.have.length(0);
  });

  it('writes nothing more once another controller has taken the lease over, and leaves nothing half done', async () => {
    const log = createLogger('silent');
    const key = `lease of ${env.id}`;
    const lease = createLease({ db: scene.db, key, log, ttlMs: 60_000, renewMs: 3_600_000 });
    await lease.start();
    const epoch = lease.epoch();
    if (epoch === null) throw new Error('the lease is not held');
    try {
      env.commit({ a: idleManifest('a'), b: idleManifest('b'), c: idleManifest('c') });
      let fenced = 0;
      const error = await failed(
        env.pass({
          batch: 1,
          fence: async (tx) => {
            fenced += 1;
            // Between the first object and the second, as after a pause of this process.
            if (fenced === 2)
              await scene
                .db('leases')
                .where({ key })
                .update({ holder: 'another', epoch: epoch + 1, expires_at: new Date(Date.now() + 60_000) });
            await lease.fence(tx, epoch);
          },
        }),
      );
      expect((error as DomainError).code).to.equal('UNAVAILABLE');
      expect((await env.pipelines()).map((one) => [one.name, one.deployedVersion])).to.deep.equal([['a', 1]]);
      expect(await env.manifestNames()).to.deep.equal([]);
      expect((await env.binding()).headCommit).to.equal(null);
      expect(await scene.db('audit_log').where({ environment_id: env.id })).to.have.length(1);
    } finally {
      await lease.stop();
    }
    // The other controller's pass.
    await env.pass();
    expect((await env.pipelines()).map((one) => [one.name, one.version])).to.deep.equal([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ]);
  });

  it('makes one version of a change, though two passes run at the same time', async () => {
    await env.apply({ web: idleManifest('web') });
    env.commit({ web: idleManifest('web', 'second') });
    await Promise.allSettled([env.pass(), env.pass(), env.pass()]);
    const { id } = await env.pipeline('web');
    expect((await env.versions(id)).map((one) => one.version)).to.deep.equal([1, 2]);
    await env.pass();
    expect(await env.versions(id)).to.have.length(2);
  });
});
