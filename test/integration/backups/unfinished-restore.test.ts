/** A restore whose repository cannot take its place: it reports so, and is finished once nothing is in the way. */
import { existsSync, mkdtempSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { completeRestore } from '../../../controller/backups/index.ts';
import { connect } from '../../../controller/database/connect.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { writeSetting } from '../../../controller/platform/runtime/settings-store.ts';
import type { BackupRun } from '../../../schemas/api/backups.ts';
import { headgateInProcess } from '../../support/clients/command.ts';
import { git } from '../../support/clients/fast-import.ts';
import { LOCAL_TARGETS } from '../../support/fixtures/local-targets.ts';
import { ROOT } from '../../support/harness/controller.ts';
import { freePort } from '../../support/harness/headgate.ts';
import { testDatabase } from '../../support/harness/postgres.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { archiveOf, restoreInto } from '../../support/scenes/backups/archives.ts';
import { untilEnded } from '../../support/scenes/backups/backups.ts';
import { leftoversOf, servedBy, startRestoredSite } from '../../support/scenes/backups/restored-site.ts';
import { signIn } from '../../support/users/person.ts';

describe('a restore whose repository cannot take its place', function () {
  this.timeout(120_000);
  this.slow(30_000);
  const scene = use(
    () => startRestoredSite({ inProcess: true }),
    ({ remove }) => remove(),
  );

  let volumes = 0;
  /** The repository is on a volume that is not there: no user, root neither, renames a folder over a link to nowhere. */
  async function takeVolumeAway(): Promise<void> {
    const { gitdir, dataDir } = scene.site;
    volumes += 1;
    await rename(gitdir, join(dataDir, `volume-${volumes}`));
    await symlink(join(dataDir, 'away'), gitdir);
  }
  /** Of the CLI and of `serve`. */
  const environment = (): Record<string, string> => ({
    HEADGATE_DATABASE_URL: new URL(scene.site.db.client.config.connection.connectionString as string).href,
    HEADGATE_DATA_DIR: scene.site.dataDir,
    HEADGATE_PRIVATE_TARGETS: LOCAL_TARGETS.join(),
  });
  const lastRun = async (): Promise<BackupRun> =>
    (await scene.site.db('backup_runs').orderBy('started_at', 'desc').first()) as unknown as BackupRun;

  it('is finished by the controller that has restored it, as soon as nothing is in the way', async () => {
    const { site, filename, before } = scene;
    await takeVolumeAway();
    const { id } = await (await site.api()).mutate<BackupRun>('settings.restoreBackup', { filename });
    await untilEnded(site.db, { id });
    const waits = 'the controller does not start yet';
    await until(() => site.controller.output().includes(waits), { what: waits, timeoutMs: 30_000 });
    const run = await lastRun();
    expect(run).to.include({ id, status: 'COMPLETED' });
    expect(run.error).to.match(/^The database is restored, and the embedded repository is not yet: /);
    expect(site.controller.output()).to.include(JSON.stringify(run.error));

    await unlink(site.gitdir);
    await until(async () => (await lastRun()).error === null, {
      what: 'the repository to be put in its place',
      timeoutMs: 60_000,
      everyMs: 100,
    });
    const starts = () => site.controller.output().split('"Headgate listens"').length - 1;
    await until(() => starts() === 2, { what: 'the controller to listen again', timeoutMs: 30_000 });
    expect(await servedBy(site, site.controller)).to.deep.equal(before);
  });

  it('ends the command with 2 and what is left to do, which the next start does', async () => {
    const { site, filename, before } = scene;
    const root = await signIn(site.controller.url, ROOT.email, ROOT.password);
    await root.mutate('team.create', { name: 'Later still' });
    await site.controller.end();
    await takeVolumeAway();

    const restored = await headgateInProcess(['backup', 'restore', filename, '--yes'], {
      env: environment(),
    });
    const run = await lastRun();
    const pending = `${site.gitdir}.restore-${run.id}`;
    const left = `The database is restored, and the embedded repository is not yet: ${pending} cannot be renamed to ${site.gitdir} (ENOTDIR). Remove what is in the way, and start Headgate where it does not run: it puts ${pending} in the place of ${site.gitdir}`;
    expect(restored.code, restored.stderr).to.equal(2);
    expect(restored.stdout).to.equal('');
    expect(restored.stderr).to.match(/\nheadgate backup: The database is restored/);
    expect(restored.stderr).to.include(left);
    expect(run).to.include({ kind: 'restore', status: 'COMPLETED', error: left });
    expect(await site.db('teams').pluck('name')).to.deep.equal(before.teams);
    expect(await leftoversOf(site)).to.deep.equal([`config.git.restore-${run.id}`]);

    const env = { ...environment(), HEADGATE_PORT: String(await freePort()) };
    const serving = await headgateInProcess(['serve'], { env });
    expect(serving.code).to.not.equal(0);
    expect(serving.stdout + serving.stderr).to.include(left);

    await unlink(site.gitdir);
    const again = await site.serve();
    expect(await servedBy(site, again)).to.deep.equal(before);
    expect(await lastRun()).to.include({ id: run.id, status: 'COMPLETED', error: null });
    expect(await leftoversOf(site)).to.deep.equal([]);
  });
});

describe('a restore whose commit is not answered', function () {
  this.timeout(60_000);
  const keyring = createKeyring('0123456789abcdef0123456789abcdef');
  const folder = use(
    () => ({ path: mkdtempSync(join(tmpdir(), 'headgate-unanswered-')) }),
    ({ path }) => rm(path, { recursive: true, force: true }),
  );
  const database = use(testDatabase, ({ drop }) => drop());
  const db = use(
    () => ({ of: connect(database.url, { poolSize: 2, name: 'headgate-test' }) }),
    ({ of }) => of.destroy(),
  );
  let archive: Buffer;
  let runs = 0;
  before(async () => {
    await writeSetting(db.of, 'secretKeyFingerprint', keyring.fingerprint);
    const gitdir = join(folder.path, 'source.git');
    git(folder.path, 'init', '--quiet', '--bare', gitdir);
    archive = await archiveOf(database.url, { keyring, gitdir });
  });

  /** Its connection breaks while it commits; with `isAway` the database cannot be asked afterwards either. */
  async function restore(isAway: boolean): Promise<{ dataDir: string; error: unknown }> {
    runs += 1;
    const dataDir = join(folder.path, `data-${runs}`);
    await mkdir(join(dataDir, 'git/config.git'), { recursive: true });
    let isSwapped = false;
    const broken = () => new Error('Connection terminated unexpectedly');
    const transaction = async (of: Knex, work: (tx: Knex.Transaction) => Promise<unknown>) => {
      const wasSwapped = isSwapped;
      const answer = await of.transaction(work);
      if (isSwapped && !wasSwapped) throw broken();
      return answer;
    };
    const error = await restoreInto(archive, {
      ...{ databaseUrl: database.url, keyring, dataDir },
      finish: async () => {
        isSwapped = true;
      },
      seen: (of) =>
        new Proxy(of, {
          get: (_, key) =>
            key === 'transaction'
              ? (work: (tx: Knex.Transaction) => Promise<unknown>) => transaction(of, work)
              : Reflect.get(of, key),
          apply: (_, self, given: Parameters<Knex>) => {
            if (isSwapped && isAway) throw broken();
            return Reflect.apply(of, self, given);
          },
        }),
    }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return { dataDir, error };
  }
  const repositories = async (dataDir: string): Promise<string[]> =>
    (await readdir(join(dataDir, 'git'))).map((name) => name.replace(/-[0-9a-z]{26}$/, '-ID')).sort();

  it('puts its repository in place, since the tables are those of the backup', async () => {
    const { dataDir, error } = await restore(false);
    expect(error).to.equal(null);
    expect(await repositories(dataDir)).to.deep.equal(['config.git', 'config.git.before-restore']);
    expect(existsSync(join(dataDir, 'git/config.git/HEAD'))).to.equal(true);
  });

  it('leaves its repository to the next start where the database cannot be asked', async () => {
    const { dataDir, error } = await restore(true);
    expect(error).to.include({ message: 'Connection terminated unexpectedly' });
    expect(await repositories(dataDir)).to.deep.equal(['config.git', 'config.git.restore-ID']);
    await completeRestore(db.of, dataDir, createLogger('silent'));
    expect(await repositories(dataDir)).to.deep.equal(['config.git', 'config.git.before-restore']);
    expect(existsSync(join(dataDir, 'git/config.git/HEAD'))).to.equal(true);
  });
});
