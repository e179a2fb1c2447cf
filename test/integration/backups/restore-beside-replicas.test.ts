/** A restore while another controller works on the same database and data directory: it starts again inside its process. */
import { expect } from 'chai';
import { createLease, type Lease } from '../../../controller/platform/runtime/lease.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import type { BackupRun } from '../../../schemas/api/backups.ts';
import { headgate } from '../../support/clients/command.ts';
import { send } from '../../support/clients/http.ts';
import { LOCAL_TARGETS } from '../../support/fixtures/local-targets.ts';
import { ROOT } from '../../support/harness/controller.ts';
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

describe('a restore beside a second controller', function () {
  this.timeout(120_000);
  this.slow(20_000);
  const scene = use(startRestoredSite, ({ remove }) => remove());
  let controllers: [Replica, Replica];
  let users: TestUser[];
  let former: Lease;

  before(async () => {
    const { site } = scene;
    controllers = [site.controller, await site.serve()];
    users = await Promise.all(controllers.map(({ url }) => signIn(url, ROOT.email, ROOT.password)));
    former = createLease({ db: site.db, key: 'of before', log: createLogger('silent') });
    await former.start();
  });
  after(() => former?.stop());

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

  it('is noticed by both, which serve the tables and the repository of the backup', async () => {
    const { site, filename, before } = scene;
    await untilOneLeads();
    const epoch = former.epoch();
    const run = await users[0]?.mutate<BackupRun>('settings.restoreBackup', { filename });
    expect(await untilEnded(site.db, run ?? { id: '' })).to.include({ status: 'COMPLETED', error: null });
    await untilStarted(2);
    for (const controller of controllers) {
      expect(controller.up()).to.equal(true);
      expect(await servedBy(site, controller)).to.deep.equal(before);
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
    await git.run('fetch', 'origin');
    await git.run('reset', '--hard', scene.before.commit);
    for (const [index, controller] of controllers.entries())
      await pushPipeline(scene, `again-${index}`, controller);
    for (const controller of controllers)
      expect((await servedBy(site, controller)).pipelines).to.deep.equal(['again-0', 'again-1', 'early']);
  });

  it('is the same by the command line while one of them hangs, which finds out when it goes on', async () => {
    const { site, filename, before } = scene;
    await untilOneLeads();
    const [leader] = await leading();
    if (!leader) throw new Error('none leads');
    const url = new URL(site.db.client.config.connection.connectionString as string).href;
    await halt(leader);
    try {
      const restored = await headgate(['backup', 'restore', filename, '--yes'], {
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
    for (const controller of controllers) expect(await servedBy(site, controller)).to.deep.equal(before);
    await untilOneLeads();
  });
});
