/** What happens to environments when their git server, its history or our disk goes wrong: what runs, runs on. */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import type { Condition } from '../../../schemas/api/common.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { temporaryDataDir } from '../../support/harness/headgate.ts';
import { testDatabase } from '../../support/harness/postgres.ts';
import { type SmallDisk, smallDisk } from '../../support/harness/small-disk.ts';
import { until } from '../../support/harness/until.ts';
import { type GitServer, useGitServer } from '../../support/servers/git-server.ts';
import type { TestUser } from '../../support/users/person.ts';

const NEVER_BY_ITSELF = 86_400;

/** One environment, bound to a folder of a server. */
class Bound {
  readonly test: TestController;
  readonly server: GitServer;
  readonly root: TestUser;
  readonly environmentId: string;

  private constructor(test: TestController, server: GitServer, root: TestUser, environmentId: string) {
    this.test = test;
    this.server = server;
    this.root = root;
    this.environmentId = environmentId;
  }

  static async make(test: TestController, server: GitServer): Promise<Bound> {
    const root = await test.root();
    const { id: teamId } = await root.mutate<{ id: string }>('team.create', { name: `T ${Date.now()}` });
    const { id } = await root.mutate<{ id: string }>('environment.create', { name: 'staging', teamId });
    await root.mutate('gitSync.configure', {
      environmentId: id,
      mode: 'sync',
      repositoryUrl: server.url(),
      path: 'prod',
      intervalSeconds: NEVER_BY_ITSELF,
    });
    return new Bound(test, server, root, id);
  }

  write(files: Record<string, string | null>, orphan = false): string {
    const placed = Object.entries(files).map(([name, text]) => [`prod/${name}.yaml`, text] as const);
    return this.server.commit({ files: Object.fromEntries(placed), orphan });
  }

  status(): Promise<GitSyncStatus> {
    return this.root.query<GitSyncStatus>('gitSync.status', { environmentId: this.environmentId });
  }

  async until(what: string, is: (status: GitSyncStatus) => boolean): Promise<GitSyncStatus> {
    let last: GitSyncStatus | undefined;
    await until(
      async () => {
        last = await this.status();
        return is(last);
      },
      {
        what: () => `${what}: ${JSON.stringify({ ...last, manifests: [] })}`,
        everyMs: 50,
        timeoutMs: 30_000,
      },
    );
    return last as GitSyncStatus;
  }

  async apply(files: Record<string, string | null>, orphan = false): Promise<GitSyncStatus> {
    const sha = this.write(files, orphan);
    await this.look();
    return this.until(`${sha} is applied`, ({ appliedCommit }) => appliedCommit?.sha === sha);
  }

  look(): Promise<unknown> {
    return this.root.mutate('gitSync.syncNow', { environmentId: this.environmentId });
  }

  async names(): Promise<string[]> {
    const rows = await this.test
      .db('pipelines')
      .where({ environment_id: this.environmentId, tombstoned_at: null })
      .pluck('name');
    return rows.sort();
  }
}

const appliedOf = ({ manifests }: GitSyncStatus, wanted: string): Condition | undefined =>
  manifests.find(({ name }) => name === wanted)?.conditions.find(({ type }) => type === 'Applied');

describe('an environment that is bound to a git server', function () {
  this.timeout(60_000);
  const server = useGitServer();

  it('follows a forced branch, deletes nothing before a commit on top, and takes what was pushed while the controller was down', async () => {
    const database = await testDatabase();
    const dataDir = temporaryDataDir();
    const kept = { databaseUrl: database.url, dataDir };
    let test = await startTestController(kept);
    try {
      const env = await Bound.make(test, server);
      const before = await env.apply({ one: idleManifest('one'), two: idleManifest('two') });
      const after = await env.apply(
        { two: idleManifest('two', 'changed'), three: idleManifest('three') },
        true,
      );
      expect(await env.names()).to.deep.equal(['one', 'three', 'two']);
      expect(appliedOf(after, 'one')).to.include({
        status: 'False',
        reason: 'HistoryRewritten',
        message:
          'Its manifest is gone, but history was rewritten: it is pruned with the next commit on top, or once an ADMIN confirms it',
      });
      expect(after.appliedCommit?.sha).not.to.equal(before.appliedCommit?.sha);
      expect(after.lastError).to.equal(null);
      await env.apply({ three: idleManifest('three', 'on top') });
      expect(await env.names()).to.deep.equal(['three', 'two']);

      await test.stop();
      env.write({ late: idleManifest('late') });
      test = await startTestController(kept);
      const late = () => test.db('pipelines').where({ environment_id: env.environmentId, name: 'late' });
      await until(async () => (await late()).length === 1, {
        ...{ what: 'what no webhook told of to be applied', everyMs: 50, timeoutMs: 20_000 },
      });
    } finally {
      await test.stop();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  describe('on a full disk', () => {
    let disk: SmallDisk | null;
    before(function () {
      disk = smallDisk(24);
      if (!disk) this.skip();
    });
    after(() => disk?.remove());

    it('keeps what runs, says what to do, and goes on once there is space', async () => {
      const test = await startTestController({ dataDir: disk?.folder ?? '' });
      try {
        const env = await Bound.make(test, server);
        await env.apply({ one: idleManifest('one') });
        disk?.fill();
        const sha = env.write({ two: idleManifest('two') });
        await env.look();
        const { lastError } = await env.until('it is told', (status) => status.lastError !== null);
        expect(lastError).to.match(
          /the disk of the data directory is full; free some space there; it is tried again by itself/,
        );
        expect(await env.names()).to.deep.equal(['one']);
        disk?.empty();
        await env.look();
        await env.until('the second is applied', ({ appliedCommit }) => appliedCommit?.sha === sha);
        expect(await env.names()).to.deep.equal(['one', 'two']);
      } finally {
        await test.stop();
      }
    });
  });
});
