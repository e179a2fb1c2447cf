/** Commits that come faster than passes, and while one runs; and a database that is older than the repository. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import type { GitJob, GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { commit } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { testDatabase } from '../../support/harness/postgres.ts';
import { until } from '../../support/harness/until.ts';
import type { TestUser } from '../../support/users/person.ts';

const BRANCH = 'main';
const fileOf = (name: string) => `${name}.yaml`;

/** An environment of its own, bound to the root of the branch. */
class Bound {
  readonly test: TestController;
  readonly root: TestUser;
  readonly id: string;

  constructor(test: TestController, root: TestUser, id: string) {
    this.test = test;
    this.root = root;
    this.id = id;
  }

  static async make(test: TestController): Promise<Bound> {
    const root = await test.root();
    const { id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'team' });
    const { id } = await root.mutate<{ id: string }>('environment.create', { name: 'here', teamId });
    const bound = new Bound(test, root, id);
    const first = bound.write({ first: idleManifest('first') });
    await root.mutate('gitSync.configure', { environmentId: id, mode: 'sync', branch: BRANCH, path: '' });
    await bound.untilApplied(first);
    return bound;
  }

  write(files: Record<string, string | null>, message = 'change'): string {
    return commit(this.test.controller.gitdir, {
      branch: BRANCH,
      message,
      files: Object.fromEntries(Object.entries(files).map(([name, text]) => [fileOf(name), text])),
    });
  }

  status(): Promise<GitSyncStatus> {
    return this.root.query('gitSync.status', { environmentId: this.id });
  }

  async untilApplied(sha: string, timeoutMs = 20_000): Promise<void> {
    await until(async () => (await this.status()).appliedCommit?.sha === sha, {
      what: `commit ${sha.slice(0, 7)} to be applied`,
      timeoutMs,
      everyMs: 50,
    });
  }

  jobs(): Promise<GitJob[]> {
    return this.root.query('gitSync.jobs', { environmentId: this.id, limit: 100 });
  }

  async sync(): Promise<GitJob> {
    const { jobId } = await this.root.mutate<{ jobId: string }>('gitSync.syncNow', {
      environmentId: this.id,
    });
    let job: GitJob | undefined;
    await until(
      async () => {
        job = (await this.jobs()).find((one) => one.id === jobId);
        return job !== undefined && job.status !== 'pending';
      },
      { what: 'the pass that was asked for', timeoutMs: 20_000, everyMs: 50 },
    );
    if (!job) throw new Error('unreachable');
    return job;
  }

  /** Name, newest version and whether it lives, of every pipeline. */
  async pipelines(): Promise<
    { id: string; name: string; version: number; gone: boolean; description: string }[]
  > {
    const { rows } = await this.test.db.raw(
      `SELECT p.id, p.name, v.version, p.tombstoned_at IS NOT NULL AS gone, p.description FROM pipelines p
       LEFT JOIN pipeline_versions v ON v.id = p.latest_version_id
       WHERE p.environment_id = ? ORDER BY p.name`,
      [this.id],
    );
    return rows;
  }
}

describe('when commits come', function () {
  this.timeout(60_000);
  let test: TestController;
  let env: Bound;
  before(async () => {
    test = await startTestController();
    env = await Bound.make(test);
  });
  after(() => test?.stop());

  it('many in a second, the newest is applied, and each other one became a version or is told as skipped', async () => {
    const commits: string[] = [];
    for (let n = 0; n < 25; n += 1) {
      commits.push(env.write({ web: idleManifest('web', `change ${n}`) }, `Change ${n}`));
      // Writing holds up the process, and with it the controller.
      await env.status();
    }
    await env.untilApplied(commits.at(-1) ?? '');
    const web = (await env.pipelines()).find(({ name }) => name === 'web');
    expect(web).to.include({ description: 'change 24', gone: false });
    const versions: { version: number; commit: string }[] = await test
      .db('pipeline_versions')
      .where({ pipeline_id: web?.id })
      .orderBy('version')
      .select('version', { commit: 'commit_sha' });
    expect(versions.map(({ version }) => version)).to.deep.equal(versions.map((_, index) => index + 1));
    expect(new Set(versions.map(({ commit: sha }) => sha)).size).to.equal(versions.length);
    const skipped = (await env.jobs()).flatMap(({ skippedCommits }) => skippedCommits.map(({ sha }) => sha));
    const told = new Set([...versions.map(({ commit: sha }) => sha), ...skipped]);
    expect(commits.filter((sha) => !told.has(sha))).to.deep.equal([]);
    expect((await env.sync()).outcome).to.equal('unchanged');
  });

  it('while a pass is under way, it ends with its own, and the next one takes the newer', async () => {
    const COUNT = 800;
    const many = Object.fromEntries(
      Array.from({ length: COUNT }, (_, n) => [`p${n}`, idleManifest(`p${n}`)]),
    );
    const first = env.write(many, 'Many');
    await until(async () => (await env.pipelines()).length > 200, {
      what: 'the pass to be under way',
      timeoutMs: 20_000,
      everyMs: 20,
    });
    expect((await env.status()).appliedCommit?.sha).not.to.equal(first);
    const second = env.write(
      { p1: idleManifest('p1', 'newer'), [`p${COUNT - 1}`]: null, late: idleManifest('late') },
      'Meanwhile',
    );
    await env.untilApplied(second, 40_000);
    const pipelines = await env.pipelines();
    const byName = new Map(pipelines.map((one) => [one.name, one]));
    expect(byName.get('p1')).to.include({ version: 2, description: 'newer' });
    expect(byName.get('late')).to.include({ version: 1 });
    expect(byName.get(`p${COUNT - 1}`)).to.include({ version: 1, gone: true });
    expect(
      pipelines.filter(({ name, version }) => version !== 1 && name !== 'p1' && name !== 'web'),
    ).to.deep.equal([]);
    const [last, before] = (await env.jobs()).filter(({ outcome }) => outcome === 'applied');
    expect(last).to.deep.include({ error: null });
    expect(last?.commit?.sha).to.equal(second);
    expect(before?.commit?.sha).to.equal(first);
    expect(before?.counts.created).to.equal(COUNT);
    expect((await env.sync()).outcome).to.equal('unchanged');
  });
});

describe('when the database is a backup of yesterday', function () {
  this.timeout(60_000);

  it('comes to what git says, deletes nothing that git has, and repeats no history', async () => {
    const database = await testDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'headgate-restored-'));
    const admin = new pg.Client({ connectionString: database.url.replace(/\/[^/]+$/, '/postgres') });
    await admin.connect();
    const name = new URL(database.url).pathname.slice(1);
    const copy = async (from: string, to: string) => {
      await admin.query(`DROP DATABASE IF EXISTS ${to} WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${to} TEMPLATE ${from}`);
    };
    const start = () => startTestController({ databaseUrl: database.url, dataDir });
    let test = await start();
    try {
      let env = await Bound.make(test);
      const names = Array.from({ length: 20 }, (_, n) => `p${n}`);
      await env.untilApplied(env.write(Object.fromEntries(names.map((one) => [one, idleManifest(one)]))));
      await test.stop();
      await copy(name, `${name}_backup`);

      // A day goes by.
      test = await start();
      env = new Bound(test, await test.root(), env.id);
      await env.untilApplied(env.write({ p1: idleManifest('p1', 'changed') }));
      await env.untilApplied(env.write({ p2: null, p3: null, added: idleManifest('added') }));
      await env.untilApplied(
        env.write({ p4: null, renamed: idleManifest('renamed', '', ', previousName: p4') }),
      );
      await env.untilApplied(env.write({ p5: idleManifest('p5', 'once') }));
      await env.untilApplied(env.write({ p5: idleManifest('p5', 'twice') }));
      const wanted = (await env.pipelines()).filter(({ gone }) => !gone).map((one) => one.name);
      const head = (await env.status()).appliedCommit?.sha ?? '';
      await test.stop();

      await copy(`${name}_backup`, name);
      test = await start();
      env = new Bound(test, await test.root(), env.id);
      await env.untilApplied(head);
      const after = await env.pipelines();
      expect(after.filter(({ gone }) => !gone).map((one) => one.name)).to.deep.equal(wanted);
      expect(after.filter(({ gone }) => gone).map((one) => one.name)).to.deep.equal(['p2', 'p3']);
      const version = (of: string) => after.find((one) => one.name === of)?.version;
      expect(['p0', 'p1', 'p5', 'added', 'renamed'].map(version)).to.deep.equal([1, 2, 2, 1, 1]);
      const [pass] = (await env.jobs()).filter(({ outcome }) => outcome === 'applied');
      expect(pass?.counts).to.include({ created: 1, changed: 2, renamed: 1, deleted: 2, refused: 0 });
      expect((await env.sync()).outcome).to.equal('unchanged');
    } finally {
      await test.stop();
      await admin.query(`DROP DATABASE IF EXISTS ${name}_backup WITH (FORCE)`);
      await admin.end();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
