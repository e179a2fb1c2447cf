/** Backups in a bucket of a real S3 server, and by a schedule on a manual clock. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { failAbandonedRuns, startDueBackup } from '../../../controller/backups/index.ts';
import { assertS3Usable, s3Storage } from '../../../controller/backups/storage/s3-storage.ts';
import { createOutgoing } from '../../../controller/platform/net/outgoing/index.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type { BackupEntry, BackupSettingsView, S3ConnectionResult } from '../../../schemas/api/backups.ts';
import { headgateInProcess } from '../../support/clients/command.ts';
import { LOCAL_TARGETS, localGuard } from '../../support/fixtures/local-targets.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { collect } from '../../support/scenes/backups/archives.ts';
import {
  makeBackup,
  restoreBackup,
  startsOf,
  untilEnded,
  untilStarted,
} from '../../support/scenes/backups/backups.ts';
import { BUCKET, S3_KEY, startS3 } from '../../support/servers/s3-server.ts';
import { expectRefused } from '../../support/users/person.ts';

describe('where and when backups are made', function () {
  this.timeout(60_000);
  const s3 = use(startS3, (server) => server.close());
  const test = useController();
  const root = useRoot(test);
  const { signal } = new AbortController();
  const connection = () => ({
    bucket: BUCKET,
    region: 'us-east-1',
    prefix: 'site-1',
    endpoint: s3.endpoint,
    ...S3_KEY,
  });

  describe('a bucket', () => {
    const guard = localGuard();
    const log = createLogger('silent');
    const outgoing = createOutgoing({ guard, proxies: NO_PROXIES, log });
    const parts = { guard, outgoing, proxies: NO_PROXIES };
    after(() => outgoing.close());

    it('takes a large file in parts, gives it back, and has nothing of one that broke off', async () => {
      const storage = await s3Storage(connection(), parts, { partBytes: 5 * 1024 * 1024 });
      try {
        const content = randomBytes(7 * 1024 * 1024);
        async function* chunks(fails = false) {
          for (let at = 0; at < content.length; at += 1024 * 1024) {
            if (fails && at > 5 * 1024 * 1024) throw new Error('the database went away');
            yield content.subarray(at, at + 1024 * 1024);
          }
        }
        const filename = 'headgate-20260131T030000Z-aaaaaa.tar.gz';
        expect(await storage.write(filename, chunks(), signal)).to.equal(content.length);
        const back = await collect(await storage.read(filename, signal));
        expect(back.equals(content)).to.equal(true);
        const broken = 'headgate-20260131T040000Z-bbbbbb.tar.gz';
        const error = await storage.write(broken, chunks(true), signal).catch((thrown: Error) => thrown);
        expect(String(error)).to.match(/could not store a backup|does not answer|went away/);
        expect((await storage.list(signal)).map((file) => file.filename)).to.deep.equal([filename]);
        await storage.delete(filename, signal);
        expect(await storage.list(signal)).to.deep.equal([]);
      } finally {
        storage.close();
      }
    });

    // s3rver compares no signatures of version 4: a wrong secret is a case of the unit tests.
    const WRONG: readonly [string, object, RegExp][] = [
      ['an unknown access key', { accessKeyId: 'NOBODY' }, /does not know the access key NOBODY/],
      ['a missing bucket', { bucket: 'not-there' }, /There is no bucket "not-there"/],
      ['a store that is away', { endpoint: 'http://127.0.0.1:9' }, /127\.0\.0\.1:9 does not answer/],
    ];
    for (const [what, change, message] of WRONG)
      it(`says what is wrong with ${what}`, async () => {
        const error = await assertS3Usable({ ...connection(), ...change }, parts, signal).catch(
          (thrown: Error) => thrown,
        );
        expect(String(error)).to.match(message);
        expect(String(error)).not.to.include('secretAccessKey');
      });
  });

  describe('a bucket in another region', () => {
    for (const misplaced of ['malformed', 'redirect'] as const)
      it(`is named with the region that is expected, where the store answers ${misplaced}`, async () => {
        const server = await startS3({ region: 'eu-west-3', misplaced });
        try {
          const there = { ...connection(), endpoint: server.endpoint };
          const user = await test.root();
          const tested = await user.mutate<S3ConnectionResult>('settings.testS3Connection', there);
          expect(tested).to.deep.equal({
            connected: false,
            message: `${server.endpoint} expects the region eu-west-3, and not us-east-1; correct the region`,
          });
          const right = { ...there, region: 'eu-west-3' };
          expect(await user.mutate('settings.testS3Connection', right)).to.include({ connected: true });
        } finally {
          await server.close();
        }
      });
  });

  describe('an endpoint that is no S3', () => {
    const page = '<html><body>Hello</body></html>';
    const ANSWERS: readonly [string, number, string, RegExp][] = [
      [
        'a page for everything',
        200,
        page,
        /gives back something else than was stored, so it is no store of S3/,
      ],
      [
        'what is no XML',
        200,
        '<p>Hello<br></p>',
        /does not answer as S3 does \(status 200\); check the endpoint/,
      ],
      [
        'no such page',
        404,
        '<p>Hello<br></p>',
        /does not answer as S3 does \(status 404\); check the endpoint/,
      ],
      [
        ...(['a redirect to HTTPS', 301, page] as const),
        /sends us to https:\/\/s3\.example\.com for the bucket "headgate-backups"; correct the endpoint/,
      ],
    ];
    const location = 'https://s3.example.com/headgate-backups';
    for (const [what, status, body, message] of ANSWERS)
      it(`is found out where it answers with ${what}`, async () => {
        const server = createServer((request, response) => {
          request.resume();
          response.writeHead(status, {
            'content-type': 'text/html',
            ...(status === 301 ? { location } : {}),
          });
          response.end(body);
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        try {
          const { port } = server.address() as AddressInfo;
          const there = { ...connection(), endpoint: `http://127.0.0.1:${port}` };
          const user = await test.root();
          const tested = await user.mutate<S3ConnectionResult>('settings.testS3Connection', there);
          expect(tested.connected, tested.message).to.equal(false);
          expect(tested.message).to.match(message);
        } finally {
          server.close();
          server.closeAllConnections();
        }
      });
  });

  it('are tested, stored and masked as settings', async () => {
    const tested = await root.mutate<S3ConnectionResult>('settings.testS3Connection', connection());
    expect(tested).to.deep.equal({ connected: true, message: `Backups can be stored in ${BUCKET}` });
    await root.mutate('settings.updateStorageBackend', { backend: 's3', ...connection() });
    const { backups } = await root.query<{ backups: BackupSettingsView }>('settings.get');
    expect(backups.s3).to.deep.equal({ ...connection(), secretAccessKey: '********' });
    const row = await test.db('backup_settings').first();
    expect(row?.sealed_secret_access_key).to.match(/^v1\./);
    const masked = { ...connection(), secretAccessKey: '********' };
    expect(await root.mutate('settings.testS3Connection', masked)).to.include({ connected: true });
    const elsewhere = await root.call('mutation', 'settings.testS3Connection', {
      ...{ ...masked, endpoint: 'http://127.0.0.1:9' },
    });
    expectRefused(elsewhere, 400, 'another endpoint or access key needs it again');
  });

  it('hold a backup that is verified and restored from there', async () => {
    const filename = await makeBackup(test, root);
    const list = await root.query<BackupEntry[]>('settings.listBackups');
    expect(list.map((one) => one.filename)).to.deep.equal([filename]);
    const run = await root.mutate<{ id: string }>('settings.verifyBackup', { filename });
    expect((await untilEnded(test.db, run)).status).to.equal('COMPLETED');
    const again = await restoreBackup(test, root, filename);
    // The storage of this installation stays.
    expect(
      (await again.query<BackupEntry[]>('settings.listBackups')).map((one) => one.filename),
    ).to.deep.equal([filename]);
    await again.mutate('settings.deleteBackup', { filename });
    expect(await again.query('settings.listBackups')).to.deep.equal([]);
    expectRefused(await again.call('mutation', 'settings.deleteBackup', { filename }), 404);
    expectRefused(await again.call('query', 'settings.previewBackup', { filename: '../../secret-key' }), 404);
  });

  it('follow a schedule: what was missed is made up for once, and the oldest of its own go', async () => {
    const user = await test.root();
    await user.mutate('settings.updateStorageBackend', { backend: 'local' });
    const byHand = await makeBackup(test, user);
    expectRefused(
      await user.call('mutation', 'settings.updateBackupSchedule', {
        enabled: true,
        cron: '61 3 * * *',
        retentionCount: 1,
      }),
      400,
      'cron:',
    );
    const schedule = { enabled: true, cron: '0 3 * * *', retentionCount: 1 };
    await user.mutate('settings.updateBackupSchedule', schedule);
    const clock = manualClock(Date.now() + 3 * 86_400_000);
    const { systemContext, execute } = test.controller;
    const context = (): Context => ({ ...systemContext('backup schedule'), clock });
    const scheduled = () => test.db('backup_runs').where({ triggered_by: 'scheduled' }).orderBy('started_at');
    const runDue = async (): Promise<number> => {
      await startDueBackup(context(), execute);
      await until(async () => (await scheduled()).every(({ status }) => status !== 'RUNNING'), {
        what: 'its end',
      });
      return (await scheduled()).length;
    };
    expect(await runDue()).to.equal(1);
    expect(await runDue()).to.equal(1);
    await clock.advance(86_400_000);
    expect(await runDue()).to.equal(2);
    const runs = await scheduled();
    await until(async () => (await user.query<BackupEntry[]>('settings.listBackups')).length === 2, {
      what: 'the older one to be deleted',
    });
    const names = (await user.query<BackupEntry[]>('settings.listBackups')).map((one) => one.filename).sort();
    expect(names).to.deep.equal([byHand, runs[1]?.filename].sort());
    const { backups } = await user.query<{ backups: BackupSettingsView }>('settings.get');
    expect(backups.schedule.lastRun).to.include({ status: 'COMPLETED', error: null });
    expect(backups.schedule.nextRuns).to.have.length(3);
  });

  it('are failed where their controller died', async () => {
    const id = newId();
    await test.db('backup_runs').insert({
      ...{ id, kind: 'create', triggered_by: 'manual', requested_by: 'somebody' },
      ...{ filename: 'headgate-20260131T030000Z-cccccc.tar.gz', started_at: new Date() },
    });
    expectRefused(await (await test.root()).call('mutation', 'settings.createBackup'), 409);
    // The controller looks by itself every 15 s, and gives one that was just begun half a minute.
    await test
      .db('backup_runs')
      .where({ id })
      .update({ started_at: new Date(Date.now() - 3_600_000) });
    await failAbandonedRuns(test.controller.systemContext('abandoned backups'));
    const run = await test.db('backup_runs').where({ id }).first();
    expect(run).to.include({ status: 'FAILED' });
    expect(run?.error).to.match(/The controller that did this ended/);
    // It was only paused, and goes on.
    await test.controller.systemContext('paused').services.backups.run(id);
    expect(await test.db('backup_runs').where({ id }).first()).to.deep.equal(run);
    const made = await (await test.root()).query<BackupEntry[]>('settings.listBackups');
    expect(made.map(({ filename }) => filename)).not.to.include(run?.filename);
  });

  it('are made, verified and restored by the command line beside a running controller', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-backup-'));
    const env = {
      ...{ HEADGATE_DATABASE_URL: test.databaseUrl, HEADGATE_DATA_DIR: test.config.dataDir },
      HEADGATE_PRIVATE_TARGETS: LOCAL_TARGETS.join(),
    };
    const run = (...args: string[]) => headgateInProcess(['backup', ...args], { env });
    try {
      const file = join(folder, 'today.tar.gz');
      const made = await run('create', '--output', file);
      expect(made.code, made.stderr).to.equal(0);
      expect(made.stdout).to.match(/today\.tar\.gz: \d+ rows of \d+ tables/);
      const listed = await run('list', '--format', 'json');
      expect(JSON.parse(listed.stdout)).to.have.length(2);
      expect((await run('verify', file)).stdout).to.include('is whole and can be restored here');
      const bytes = await readFile(file);
      await writeFile(join(folder, 'cut.tar.gz'), bytes.subarray(0, bytes.length - 500));
      const cut = await run('verify', join(folder, 'cut.tar.gz'));
      expect([cut.code, cut.stderr.includes('The backup is damaged')]).to.deep.equal([1, true]);
      await (await test.root()).mutate('team.create', { name: 'made later' });
      const unsure = await run('restore', file);
      expect([unsure.code, unsure.stderr.includes('add --yes')]).to.deep.equal([2, true]);
      const starts = startsOf(test);
      const restored = await run('restore', file, '--yes');
      expect(restored.code, restored.stderr).to.equal(0);
      await untilStarted(test, starts + 1);
      const teams = await (await test.root()).query<{ name: string }[]>('admin.listTeams');
      expect(teams.map(({ name }) => name)).not.to.include('made later');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
