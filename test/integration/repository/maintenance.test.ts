/** Packing the embedded repository: what is needed stays, and pushes go on. */
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  beginActivity,
  endActivity,
  extendActivity,
} from '../../../controller/delivery/repository/activity-store.ts';
import { duringPush, maintainRepository } from '../../../controller/delivery/repository/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { commit, git } from '../../support/clients/fast-import.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { manifest, useTwoTeams } from '../../support/scenes/two-teams.ts';

const MONTH_S = 30 * 86_400;

describe('maintenance of the embedded repository', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  let gitdir: string;
  const { signal } = new AbortController();
  const maintain = () => maintainRepository({ db: test.db, gitdir, log: createLogger('silent'), signal });
  /** Once nobody else is at work: a branch is there a moment before the push that made it has ended. */
  async function beginMaintenance(): Promise<string> {
    let id: string | null = null;
    await until(
      async () => {
        id = await beginActivity(test.db, 'maintenance', 60_000);
        return id !== null;
      },
      { what: 'nobody to be at work in the repository' },
    );
    return id ?? '';
  }
  const loose = () => Number(/^count: (\d+)$/m.exec(git(gitdir, 'count-objects', '-v'))?.[1]);
  const holds = (sha: string) => git(gitdir, 'rev-list', '--all', '--', '.').includes(sha);
  const isThere = (sha: string): boolean => {
    try {
      return git(gitdir, 'cat-file', '-t', sha) === 'commit';
    } catch {
      return false;
    }
  };
  /** Each push of a few files leaves a file an object. */
  let written = 0;
  function writeMany(branch: string): string {
    written += 1;
    let sha = '';
    for (let n = 0; n < 3; n += 1)
      sha = commit(gitdir, {
        branch,
        message: `${branch} ${n}`,
        files: Object.fromEntries(
          Array.from({ length: 90 }, (_, file) => [
            `notes/${branch}/${file}.md`,
            `${written} ${branch} ${n} ${file}\n`,
          ]),
        ),
      });
    return sha;
  }
  function age(): void {
    const then = Date.now() / 1_000 - MONTH_S;
    for (const folder of readdirSync(join(gitdir, 'objects')))
      if (/^[0-9a-f]{2}$/.test(folder))
        for (const name of readdirSync(join(gitdir, 'objects', folder)))
          utimesSync(join(gitdir, 'objects', folder, name), then, then);
  }

  before(() => {
    ({ gitdir } = test.controller);
  });

  it('packs what many pushes left, and deletes what is old and neither reached nor named by the database', async () => {
    const head = writeMany('main');
    const named = writeMany('named');
    const forgotten = writeMany('forgotten');
    for (const branch of ['named', 'forgotten']) git(gitdir, 'update-ref', '-d', `refs/heads/${branch}`);
    const version = test.db('pipeline_versions').where({ id: teams.theirs.versionId });
    await version.clone().update({ commit_sha: named });
    age();
    const before = loose();
    expect(before).to.be.greaterThan(500);
    expect(await maintain()).to.equal('done');
    expect(loose()).to.be.lessThan(20);
    expect([head, named, forgotten].map(isThere)).to.deep.equal([true, true, false]);
    expect(holds(named), 'by a ref of its own').to.equal(true);
    expect(git(gitdir, 'fsck', '--full', '--no-dangling')).to.equal('');
    expect(await maintain()).to.equal('not-needed');

    // Once it is named no more, its ref goes; it has its two weeks from then on.
    await version.clone().update({ commit_sha: null });
    writeMany('main');
    expect(await maintain()).to.equal('done');
    expect(git(gitdir, 'for-each-ref', 'refs/headgate/keep')).to.equal('');
  });

  it('does not begin while somebody pushes, and a push that comes meanwhile is taken', async () => {
    writeMany('main');
    const push = await beginActivity(test.db, 'push', 60_000);
    expect(await maintain()).to.equal('pushes');
    await endActivity(test.db, push ?? '');
    const other = await teams.git.run('pull', '--quiet', '--rebase', 'origin', 'main');
    expect(other.code, other.stderr).to.equal(0);
    await teams.git.commit({ 'ours/meanwhile.yaml': manifest('meanwhile') });
    const [outcome, pushed] = await Promise.all([maintain(), teams.git.push()]);
    expect(outcome).to.be.oneOf(['done', 'pushes', 'gave-way']);
    expect(pushed.code, pushed.stderr).to.equal(0);
    expect(git(gitdir, 'fsck', '--full', '--no-dangling')).to.equal('');
    await until(async () => (await test.db('pipelines').where({ name: 'meanwhile' })).length === 1, {
      what: 'the push to be applied',
    });
    // A push is answered a moment before its row is gone.
    await until(async () => (await test.db('repository_activity')).length === 0, {
      what: 'nobody to be at work any more',
    });
  });

  it('takes away what one before it that was ended half way has left', async () => {
    const packs = join(gitdir, 'objects', 'pack');
    const left = ['tmp_pack_x1y2z3', 'tmp_idx_x1y2z3', '.tmp-7-pack-ab.pack'];
    for (const name of left) writeFileSync(join(packs, name), 'half');
    writeMany('main');
    await until(async () => (await maintain()) === 'done', { what: 'all of it to be packed' });
    expect(readdirSync(packs).filter((name) => left.includes(name))).to.deep.equal([]);
  });

  it('lasts as long as it says so, and knows when its time is over', async () => {
    const id = await beginMaintenance();
    const row = test.db('repository_activity').where({ id });
    expect(await extendActivity(test.db, id, 3_600_000)).to.equal(true);
    const { expires_at: expiry } = await row.clone().first();
    expect(expiry.getTime()).to.be.greaterThan(Date.now() + 1_800_000);
    await row.clone().update({ expires_at: new Date(0) });
    expect(await extendActivity(test.db, id, 60_000)).to.equal(false);
    await endActivity(test.db, id);
  });

  it('is waited for by what the controller writes itself', async () => {
    const { environmentId } = teams.ours;
    await teams.git.run('fetch', '--quiet', 'origin');
    await teams.git.run('push', '--quiet', 'origin', 'refs/remotes/origin/main:refs/heads/topic');
    const headSha = commit(gitdir, {
      branch: 'topic',
      message: 'more',
      files: { 'ours/more.yaml': manifest('more') },
    });
    const { number } = await teams.root.mutate<{ number: number }>('pullRequest.open', {
      ...{ environmentId, branch: 'topic', title: 'More' },
    });
    const copy = { environmentId: teams.theirs.environmentId, branch: 'copy', path: 'copy' };
    for (const [what, write, isDone] of [
      [
        'a merge',
        () => teams.root.mutate('pullRequest.merge', { environmentId, number, headSha, method: 'merge' }),
        () => git(gitdir, 'ls-tree', '-r', '--name-only', 'main').includes('ours/more.yaml'),
      ],
      [
        'a copy',
        () => teams.root.mutate('gitSync.configure', { ...copy, mode: 'push' }),
        () => git(gitdir, 'for-each-ref', 'refs/heads/copy') !== '',
      ],
    ] as const) {
      const id = await beginMaintenance();
      const written = write();
      const wanted = test.db('repository_activity').where({ id }).whereNotNull('wanted_at');
      await until(async () => (await wanted.clone()).length === 1, { what: `${what} to wait` });
      expect(isDone(), what).to.equal(false);
      await endActivity(test.db, id);
      await written;
      await until(isDone, { what });
    }
  });

  it('is waited for by a push, which it hears of, and holds nobody up once it has died', async () => {
    const maintenance = await beginMaintenance();
    let began = false;
    const push = duringPush(test.db, signal, async () => {
      began = true;
    });
    const wanted = () => test.db('repository_activity').whereNotNull('wanted_at');
    await until(async () => (await wanted()).length === 1, { what: 'the push to be heard of' });
    expect(began).to.equal(false);
    await test
      .db('repository_activity')
      .where({ id: maintenance })
      .update({ expires_at: new Date(0) });
    await push;
    expect(began).to.equal(true);
    expect(await test.db('repository_activity')).to.deep.equal([]);
  });
});
