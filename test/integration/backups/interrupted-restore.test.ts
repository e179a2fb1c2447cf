/** A controller that is killed while it restores: nothing is lost, and nothing of the restore is left, once it has started again. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { PREPARING } from '../../../controller/database/advisory-lock.ts';
import { readSetting } from '../../../controller/platform/runtime/settings-store.ts';
import type { BackupRun } from '../../../schemas/api/backups.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import type { Replica } from '../../support/harness/serve.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { untilEnded } from '../../support/scenes/backups/backups.ts';
import {
  leftoversOf,
  pushPipeline,
  servedBy,
  startRestoredSite,
} from '../../support/scenes/backups/restored-site.ts';

describe('a controller that is killed while it restores', function () {
  this.timeout(120_000);
  this.slow(30_000);
  const scene = use(startRestoredSite, ({ remove }) => remove());
  /** The one that runs. */
  let controller: Replica;
  before(() => {
    controller = scene.site.controller;
  });

  /** Begins a restore, which waits for what `lock` keeps; kills the controller there. */
  async function killWaiting(
    lock: (tx: Knex) => Promise<unknown>,
    meanwhile: (id: string) => Promise<void>,
  ): Promise<string> {
    const { site, filename } = scene;
    const held = await site.db.transaction();
    try {
      await lock(held);
      const { id } = await (await site.api(controller)).mutate<BackupRun>('settings.restoreBackup', {
        filename,
      });
      await until(() => existsSync(join(site.dataDir, 'git', `config.git.restore-${id}`, 'HEAD')), {
        what: 'the repository to be prepared',
        timeoutMs: 30_000,
      });
      await untilWaiting(site.db);
      await meanwhile(id);
      await controller.end('SIGKILL');
      return id;
    } finally {
      await held.rollback();
    }
  }
  const lastRestore = async () => (await readSetting<{ id: string }>(scene.site.db, 'lastRestore'))?.id;

  it('before the swap has changed nothing, and its next start removes what was made', async () => {
    const { site, after } = scene;
    const id = await killWaiting(
      (tx) => tx.raw('SELECT FROM teams'),
      async (run) => {
        const left = await leftoversOf(site);
        const own = left.filter((name) => name.toLowerCase().includes(run.toLowerCase()));
        expect(own, left.join(' ')).to.have.length(3);
      },
    );
    expect(await lastRestore()).to.equal(undefined);

    controller = await site.serve();
    expect(await leftoversOf(site)).to.deep.equal([]);
    expect(await servedBy(site, controller)).to.deep.equal(after);
    await pushPipeline(scene, 'latest', controller);
    expect((await servedBy(site, controller)).pipelines).to.deep.equal(['early', 'late', 'latest']);
    // The leader gives a run that was just begun half a minute.
    await site
      .db('backup_runs')
      .where({ id })
      .update({ started_at: new Date(Date.now() - 60_000) });
    expect(await untilEnded(site.db, { id })).to.include({ status: 'FAILED' });
  });

  it('between the swap of the tables and that of the repository finishes the second at its start', async () => {
    const { site, before } = scene;
    const id = await killWaiting(
      (tx) => tx.raw('SELECT pg_advisory_xact_lock(?)', [PREPARING]),
      () =>
        until(async () => (await lastRestore()) !== undefined && (await leftoversOf(site)).length === 1, {
          what: 'the tables to be swapped, and the bundle to be deleted',
        }),
    );
    expect(await lastRestore()).to.equal(id);
    expect(await leftoversOf(site)).to.deep.equal([`config.git.restore-${id}`]);
    expect(existsSync(join(site.dataDir, 'git/config.git.before-restore'))).to.equal(false);

    controller = await site.serve();
    expect(await servedBy(site, controller)).to.deep.equal(before);
    expect(await leftoversOf(site)).to.deep.equal([]);
    expect(existsSync(join(site.dataDir, 'git/config.git.before-restore'))).to.equal(true);
    expect(await untilEnded(site.db, { id })).to.include({ status: 'COMPLETED', error: null });
    const root = await site.api(controller);
    const { environmentId } = site;
    await root.mutate('gitSync.syncNow', { environmentId });
    await until(
      async () => {
        const { counts } = await root.query<{ counts: Record<string, number> }>('gitSync.plan', {
          environmentId,
        });
        return ['create', 'update', 'delete', 'adopt'].every((kind) => counts[kind] === 0);
      },
      { what: 'an empty plan', timeoutMs: 30_000, everyMs: 100 },
    );
  });
});
