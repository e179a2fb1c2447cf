/** Restores of a site whose controllers are killed meanwhile, are several, or hang: processes on one data directory. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { PREPARING } from '../../../controller/database/advisory-lock.ts';
import { createLease, type Lease } from '../../../controller/platform/runtime/lease.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { readSetting } from '../../../controller/platform/runtime/settings-store.ts';
import type { BackupRun } from '../../../schemas/api/backups.ts';
import { headgateInProcess } from '../../support/clients/command.ts';
import { send } from '../../support/clients/http.ts';
import { LOCAL_TARGETS } from '../../support/fixtures/local-targets.ts';
import { ROOT } from '../../support/harness/controller.ts';
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
import { expectRefused, signIn, type TestUser } from '../../support/users/person.ts';

describe('a restore of a site', function () {
  this.timeout(120_000);
  this.slow(30_000);
  const scene = use(startRestoredSite, ({ remove }) => remove());
  /** The first of the controllers, and the other one where there are two. */
  let controller: Replica;
  let controllers: [Replica, Replica];
  let users: TestUser[];
  let former: Lease;
  before(() => {
    controller = scene.site.controller;
  });
  after(() => former?.stop());

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

  const startsOf = ({ output }: Replica): number => output().split('"Headgate listens"').length - 1;
  const untilStarted = (starts: number): Promise<void> =>
    until(() => controllers.every((one) => startsOf(one) === starts), {
      what: () =>
        `both to start again:\n${controllers.map(({ output }) => output().slice(-2_000)).join('\n---\n')}`,
      timeoutMs: 30_000,
      everyMs: 20,
    });
  const leading = async (): Promise<Replica[]> => {
    const answers = await Promise.all(controllers.map(({ url }) => send(`${url}/api/health/ready`)));
    return controllers.filter(
      (_, index) => answers[index]?.json<{ checks: { leading?: boolean } }>().checks.leading,
    );
  };
  const untilOneLeads = (): Promise<void> =>
    until(async () => (await leading()).length === 1, { what: 'one to lead', everyMs: 50 });

  /** Stops its process at a moment without a transaction, whose locks the restore would wait for. */
  const halt = ({ pid }: Replica): Promise<void> =>
    until(
      async () => {
        process.kill(pid, 'SIGSTOP');
        const { rows } = await scene.site.db.raw(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`,
        );
        if (rows.length > 0) process.kill(pid, 'SIGCONT');
        return rows.length === 0;
      },
      { what: 'a moment without a transaction', everyMs: 20 },
    );

  it('whose controller is killed before the swap has changed nothing, and its next start removes what was made', async () => {
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

  it('whose controller is killed between the swap of the tables and that of the repository ends at its next start', async () => {
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

  /** The clone goes on from the commit of the backup. */
  async function startOver(git: typeof scene.git): Promise<void> {
    await git.run('fetch', 'origin');
    await git.run('reset', '--hard', scene.before.commit);
  }

  it('is noticed by two controllers, which start again inside their processes and serve the tables and the repository of the backup', async () => {
    const { site, filename, before, git } = scene;
    controllers = [controller, await site.serve()];
    users = await Promise.all(controllers.map(({ url }) => signIn(url, ROOT.email, ROOT.password)));
    former = createLease({ db: site.db, key: 'of before', log: createLogger('silent') });
    await former.start();
    await startOver(git);
    await pushPipeline(scene, 'meanwhile', controller);
    await users[0]?.mutate('team.create', { name: 'Meanwhile' });
    await untilOneLeads();
    const epoch = former.epoch();
    const run = await users[0]?.mutate<BackupRun>('settings.restoreBackup', { filename });
    expect(await untilEnded(site.db, run ?? { id: '' })).to.include({ status: 'COMPLETED', error: null });
    await untilStarted(2);
    for (const one of controllers) {
      expect(one.up()).to.equal(true);
      expect(await servedBy(site, one)).to.deep.equal(before);
    }
    expect(await leftoversOf(site)).to.deep.equal([]);
    // It renews its lease as any leader does, and had it at the moment of the restore.
    const refusal = await site.db
      .transaction((tx) => former.fence(tx, epoch ?? 0))
      .then(
        () => null,
        (error: Error) => error.message,
      );
    expect(String(refusal)).to.include('no longer holds the lease "of before"; its write was refused');
  });

  it('ends every session on both', async () => {
    for (const user of users) expectRefused(await user.call('query', 'user.me'), 401);
  });

  it('leaves them with one leader, which applies what is pushed to either', async () => {
    await untilOneLeads();
    const { site, git } = scene;
    await startOver(git);
    for (const [index, one] of controllers.entries()) await pushPipeline(scene, `again-${index}`, one);
    for (const one of controllers)
      expect((await servedBy(site, one)).pipelines).to.deep.equal(['again-0', 'again-1', 'early']);
  });

  it('is the same by the command line while one of them hangs, which finds out when it goes on', async () => {
    const { site, filename, before } = scene;
    await untilOneLeads();
    const [leader] = await leading();
    if (!leader) throw new Error('none leads');
    const url = new URL(site.db.client.config.connection.connectionString as string).href;
    await halt(leader);
    try {
      const restored = await headgateInProcess(['backup', 'restore', filename, '--yes'], {
        env: {
          ...{ HEADGATE_DATABASE_URL: url, HEADGATE_DATA_DIR: site.dataDir },
          HEADGATE_PRIVATE_TARGETS: LOCAL_TARGETS.join(),
        },
      });
      expect(restored.code, restored.stderr).to.equal(0);
    } finally {
      process.kill(leader.pid, 'SIGCONT');
    }
    await untilStarted(3);
    for (const one of controllers) expect(await servedBy(site, one)).to.deep.equal(before);
    await untilOneLeads();
  });
});
