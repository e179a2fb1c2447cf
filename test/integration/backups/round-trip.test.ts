/** A backup of a busy controller, restored in its place: what came since is gone, and everything goes on. */
import { mkdtempSync } from 'node:fs';
import { access, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect } from '../../../controller/database/connect.ts';
import { verifyAuditLog } from '../../../controller/insight/audit/index.ts';
import { readKeyFile } from '../../../controller/platform/crypto/key-file.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import type { BackupEntry, BackupPreview } from '../../../schemas/api/backups.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { runGit } from '../../support/clients/git-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { testDatabase } from '../../support/harness/postgres.ts';
import { until } from '../../support/harness/until.ts';
import { archiveOf, restoreInto } from '../../support/scenes/backups/archives.ts';
import { contentOf, makeBackup, restoreBackup, shapeOf } from '../../support/scenes/backups/backups.ts';
import { manifest, useTwoTeams } from '../../support/scenes/two-teams.ts';
import { expectRefused, type TestUser } from '../../support/users/person.ts';

describe('a backup of a busy controller', function () {
  this.timeout(120_000);
  const test = useController();
  const teams = useTwoTeams(test);
  let filename: string;
  let root: TestUser;

  /** Heartbeats and pushes, as long as `during` takes. While the controller starts again they find nobody. */
  async function busy<T>(during: () => Promise<T>, { mayFail = false } = {}): Promise<T> {
    let goesOn = true;
    const refused = (error: unknown) => {
      if (!mayFail) throw error;
    };
    const beats = (async () => {
      for (let events = 1; goesOn; events += 1) {
        const { pipelineId } = teams.ours;
        const running = {
          pipelineId,
          version: 1,
          status: 'RUNNING',
          pid: 7,
          uptimeSeconds: 3,
          eventsIn: events,
        };
        await teams.ours.node.heartbeat(heartbeat({ pipelines: [running] })).catch(refused);
      }
    })();
    const pushes = (async () => {
      for (let n = 1; goesOn; n += 1) {
        await teams.git.commit({ 'ours/busy.yaml': manifest('busy', `# ${n}\n`) });
        const pushed = await teams.git.push();
        if (!mayFail) expect(pushed.code, pushed.stderr).to.equal(0);
      }
    })();
    try {
      return await during();
    } finally {
      goesOn = false;
      await Promise.all([beats, pushes]);
    }
  }

  it('is made meanwhile, and says what it holds', async () => {
    filename = await busy(() => makeBackup(test, teams.root));
    const [entry] = await teams.root.query<BackupEntry[]>('settings.listBackups');
    expect(entry).to.include({ filename, trigger: 'manual', createdBy: 'Administrator' });
    expect(entry?.rows).to.be.greaterThan(50);
    const preview = await teams.root.query<BackupPreview>('settings.previewBackup', { filename });
    expect(preview).to.include({ hasRepository: true, refusal: null, rows: entry?.rows });
    expect(preview.bindings.map(({ environment }) => environment)).to.include('ours/ours');
    const partial = (await readdir(join(test.config.dataDir, 'backups'))).filter((name) =>
      /partial/.test(name),
    );
    expect(partial).to.deep.equal([]);
  });

  it('takes the place of what came later', async () => {
    await teams.root.mutate('environment.create', { name: 'later', teamId: teams.ours.teamId });
    await teams.git.commit({ 'ours/later.yaml': manifest('later') });
    expect((await teams.git.push()).code).to.equal(0);
    const before = (await teams.ours.node.config()).json<{ configRevision: number }>().configRevision;
    root = await busy(() => restoreBackup(test, teams.root, filename), { mayFail: true });
    const names = (
      await root.query<{ name: string }[]>('environment.list', { teamId: teams.ours.teamId })
    ).map(({ name }) => name);
    expect(names).to.deep.equal(['ours']);
    const config = (await teams.ours.node.config()).json<{ configRevision: number; pipelines: unknown[] }>();
    expect(config.configRevision).to.be.greaterThan(before);
    expect(config.pipelines).to.have.length.greaterThan(0);
    await access(join(test.config.dataDir, 'git', 'config.git', 'HEAD'));
  });

  it('is what git says once a pass has run', async () => {
    const { environmentId } = teams.ours;
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

  it('leaves a whole audit log that ends with the restore', async () => {
    const keyring = createKeyring(readKeyFile(join(test.config.dataDir, 'secret-key')));
    await until(async () => !(await verifyAuditLog(test.db, keyring)).unnumbered, { what: 'numbers' });
    expect((await verifyAuditLog(test.db, keyring)).broken).to.equal(null);
    const { entries } = await root.query<{ entries: { entityId: string }[] }>('audit.list', {
      action: 'backup.restored',
    });
    expect(entries.map(({ entityId }) => entityId)).to.deep.equal([filename]);
  });

  it('ends every session, and lets secrets be read', async () => {
    expectRefused(await teams.root.call('query', 'user.me'), 401);
    const { environmentId } = teams.ours;
    const secrets = await root.query<{ name: string }[]>('secret.list', { environmentId });
    expect(secrets.map(({ name }) => name)).to.deep.equal(['db_password']);
    const { pipelines } = (await teams.ours.node.config()).json<{ pipelines: object[] }>();
    expect(JSON.stringify(pipelines)).to.include('blackhole');
  });

  it('has every table as it was, in the database of another installation', async () => {
    await test.controller.stop();
    const keyring = createKeyring(readKeyFile(join(test.config.dataDir, 'secret-key')));
    const archive = await archiveOf(test.databaseUrl, { keyring, gitdir: test.controller.gitdir });
    const other = await testDatabase();
    const dataDir = mkdtempSync(join(tmpdir(), 'headgate-restored-'));
    const db = connect(other.url, { poolSize: 1 });
    try {
      await restoreInto(archive, { databaseUrl: other.url, keyring, dataDir });
      const [before, after] = [await contentOf(test.db), await contentOf(db)];
      // It says which backup was restored last.
      for (const content of [before, after]) delete content.settings;
      expect(after).to.deep.equal(before);
      expect(await shapeOf(db)).to.deep.equal(await shapeOf(test.db));
      const head = async (gitdir: string) => (await runGit(['-C', gitdir, 'show-ref'])).stdout;
      expect(await head(join(dataDir, 'git', 'config.git'))).to.equal(await head(test.controller.gitdir));
    } finally {
      await db.destroy();
      await other.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
