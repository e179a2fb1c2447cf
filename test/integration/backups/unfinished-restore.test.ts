/** A restore whose repository cannot take its place: it reports so, and is finished once nothing is in the way. */
import { rename, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BackupRun } from '../../../schemas/api/backups.ts';
import { headgate } from '../../support/clients/command.ts';
import { LOCAL_TARGETS } from '../../support/fixtures/local-targets.ts';
import { ROOT } from '../../support/harness/controller.ts';
import { freePort } from '../../support/harness/headgate.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { untilEnded } from '../../support/scenes/backups/backups.ts';
import { leftoversOf, servedBy, startRestoredSite } from '../../support/scenes/backups/restored-site.ts';
import { signIn } from '../../support/users/person.ts';

describe('a restore whose repository cannot take its place', function () {
  this.timeout(120_000);
  this.slow(30_000);
  const scene = use(startRestoredSite, ({ remove }) => remove());

  let volumes = 0;

  /** The repository is on a volume that is not there: no user, root neither, renames a folder over a link to nowhere. */
  async function takeVolumeAway(): Promise<void> {
    const { gitdir, dataDir } = scene.site;
    await rename(gitdir, join(dataDir, `volume-${++volumes}`));
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
    await root.mutate('team.create', { name: 'Later than that' });
    await site.controller.end('SIGTERM');
    await takeVolumeAway();

    const restored = await headgate(['backup', 'restore', filename, '--yes'], { env: environment() });
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
    const serving = await headgate(['serve'], { env });
    expect(serving.code).to.not.equal(0);
    expect(serving.stdout + serving.stderr).to.include(left);

    await unlink(site.gitdir);
    const again = await site.serve();
    expect(await servedBy(site, again)).to.deep.equal(before);
    expect(await lastRun()).to.include({ id: run.id, status: 'COMPLETED', error: null });
    expect(await leftoversOf(site)).to.deep.equal([]);
  });
});
