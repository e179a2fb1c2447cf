/** What becomes of pull requests that are kept here, as passes see it by the branches. */
import { expect } from 'chai';
import {
  insertPullRequest,
  listPullRequests,
  type PullRequestRecord,
} from '../../../controller/delivery/pull-requests/index.ts';
import { RepositoryError } from '../../../controller/delivery/repository/index.ts';
import type { Remote } from '../../../reconcilers/git/pass-types.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { type BoundEnvironment, pathOf } from '../../support/scenes/bound-environment.ts';
import { WorkTree } from '../../support/scenes/pull-workspace.ts';
import { useReconcileScene } from '../../support/scenes/reconcile.ts';

const REPOSITORY = { repository: 'embedded', forge: 'headgate', project: '', base: 'main' } as const;

describe('pull requests that a pass looks at', function () {
  this.timeout(20_000);
  const scene = useReconcileScene();
  let env: BoundEnvironment;
  let trees: WorkTree[];
  beforeEach(async () => {
    trees = [];
    // Every environment here calls its repository the embedded one.
    await scene.db('pull_requests').delete();
    env = await scene.environment();
    await env.apply({ web: idleManifest('web') });
  });
  afterEach(() => {
    for (const tree of trees) tree.remove();
  });

  /** One commit on top of what is applied, on a branch of its own. */
  async function propose(
    branch: string,
    files: Record<string, string | null> = { web: idleManifest('web', branch) },
  ): Promise<string> {
    const { repository } = env;
    const main = repository.git('rev-parse', 'main');
    const headSha = env.commit(files);
    repository.git('update-ref', `refs/heads/${branch}`, headSha);
    repository.git('update-ref', 'refs/heads/main', main);
    await insertOpen(branch, headSha);
    return headSha;
  }
  const insertOpen = (branch: string, headSha: string) =>
    insertPullRequest(scene.db, {
      ...{ bindingId: env.bindingId, repository: 'embedded', title: branch, body: '', base: 'main' },
      ...{ branch, headSha, pushedSha: headSha, subject: {}, author: 'Ada', authorId: null },
    });
  const all = () => listPullRequests(scene.db, REPOSITORY);
  const states = async () => Object.fromEntries((await all()).map(({ branch, state }) => [branch, state]));
  const one = async (branch: string) =>
    (await all()).find((pull) => pull.branch === branch) as PullRequestRecord;
  const head = (ref = 'main') => env.repository.git('rev-parse', ref);
  /** Done by hand in a clone, and pushed. */
  function byHand(...commands: string[][]): void {
    const tree = new WorkTree(env.repository.gitdir);
    trees.push(tree);
    for (const command of commands) expect(tree.git(...command), command.join(' ')).not.to.equal(null);
    expect(tree.git('push', '--quiet', 'origin', 'HEAD:main')).not.to.equal(null);
  }

  it('are merged once their branch is in the one that is applied, also where that went on', async () => {
    const first = await propose('first');
    await propose('second');
    await env.pass();
    expect(await states()).to.deep.equal({ first: 'open', second: 'open' });
    env.repository.git('update-ref', 'refs/heads/main', first);
    await env.apply({ more: idleManifest('more') });
    expect(await states()).to.deep.equal({ first: 'merged', second: 'open' });
    expect(await one('first')).to.deep.include({ mergeSha: head(), headSha: first, mergeMethod: null });
  });

  it('are merged, too, where the branch was deleted then, and closed where it was not merged', async () => {
    const first = await propose('first');
    await propose('second');
    env.repository.git('update-ref', 'refs/heads/main', first);
    for (const branch of ['first', 'second']) env.repository.git('update-ref', '-d', `refs/heads/${branch}`);
    await env.pass();
    expect(await states()).to.deep.equal({ first: 'merged', second: 'closed' });
  });

  it('are closed though nothing else has changed since the pass before', async () => {
    await propose('first');
    await env.pass();
    await env.pass();
    env.repository.git('update-ref', '-d', 'refs/heads/first');
    expect((await env.pass()).outcome).to.equal('unchanged');
    expect(await states()).to.deep.equal({ first: 'closed' });
  });

  for (const gone of [false, true])
    it(`are recognised after a squash, a cherry-pick, a rebase and a merge commit by hand${gone ? ', when the branch is gone as well' : ''}`, async () => {
      const ways: Record<string, string[][]> = {
        squash: [
          ['merge', '--squash', 'origin/squash'],
          ['commit', '-qm', 'all of it'],
        ],
        pick: [['cherry-pick', 'origin/pick']],
        rebase: [
          ['checkout', '-q', 'rebase'],
          ['rebase', '-q', 'origin/main'],
        ],
        merge: [['merge', '-q', '--no-ff', '-m', 'merge', 'origin/merge']],
      };
      for (const branch of Object.keys(ways)) await propose(branch, { [branch]: idleManifest(branch) });
      await env.apply({ web: idleManifest('web', 'meanwhile') });
      expect(new Set(Object.values(await states()))).to.deep.equal(new Set(['open']));
      for (const [branch, commands] of Object.entries(ways)) {
        byHand(...commands);
        if (gone) env.repository.git('update-ref', '-d', `refs/heads/${branch}`);
        await env.pass();
        expect(await one(branch), branch).to.include({ state: 'merged', mergeSha: head() });
      }
    });

  it('are recognised after a squash on top of which the very lines were changed before anybody looked', async () => {
    await propose('topic', { web: idleManifest('web', 'from the topic') });
    await env.pass();
    byHand(['merge', '--squash', 'origin/topic'], ['commit', '-qm', 'all of it']);
    const squashed = head();
    env.commit({ web: idleManifest('web', 'changed again') });
    await env.pass();
    expect(await one('topic')).to.deep.include({ state: 'merged', mergeSha: squashed });
  });

  it('stay open where the base has half of it, and where it changes nothing', async () => {
    await propose('half', { one: idleManifest('one'), two: idleManifest('two') });
    await propose('nothing');
    env.repository.git('update-ref', 'refs/heads/nothing', head());
    env.repository.commit({}, { branch: 'nothing' });
    await env.apply({ one: idleManifest('one') });
    expect(await states()).to.deep.equal({ half: 'open', nothing: 'open' });
  });

  it('follow what people push to the branch, and do not mistake it for Headgate’s', async () => {
    const pushed = await propose('topic');
    await env.pass();
    expect(await one('topic')).to.deep.include({ mergeable: 'clean', baseSha: head() });
    const theirs = env.repository.commit({ 'notes.md': 'a review\n' }, { branch: 'topic' });
    await env.pass();
    expect(await one('topic')).to.deep.include({ state: 'open', headSha: theirs, pushedSha: pushed });
  });

  it('tell conflicts with their files as soon as the base has moved, and that they are gone', async () => {
    await propose('topic', { web: idleManifest('web', 'one way') });
    const before = head();
    await env.apply({ web: idleManifest('web', 'another way') });
    expect(await one('topic')).to.deep.include({
      ...{ state: 'open', mergeable: 'conflict', conflicts: [pathOf('web')], baseSha: head() },
    });
    // The base is forced back: nobody has touched the branch.
    const { headSha, pushedSha } = await one('topic');
    env.repository.git('update-ref', 'refs/heads/main', before);
    await env.pass();
    expect(await one('topic')).to.deep.include({
      ...{ state: 'open', mergeable: 'clean', conflicts: [], baseSha: before, headSha, pushedSha },
    });
  });

  it('stay closed where the branch is pushed again', async () => {
    const sha = await propose('topic');
    env.repository.git('update-ref', '-d', 'refs/heads/topic');
    await env.pass();
    env.repository.git('update-ref', 'refs/heads/topic', sha);
    await env.pass();
    expect(await states()).to.deep.equal({ topic: 'closed' });
  });

  it('wake the promotion that waits for them, and the pages', async () => {
    const sha = await propose('topic');
    await scene.db('pull_requests').update({ subject: JSON.stringify({ promotionId: 'p1' }) });
    await env.pass();
    const told: unknown[] = [];
    const publish = scene.services.bus.publish;
    scene.services.bus.publish = async (_db, signal) => void told.push(signal);
    try {
      env.repository.git('update-ref', 'refs/heads/main', sha);
      await env.pass();
    } finally {
      scene.services.bus.publish = publish;
    }
    expect(told).to.deep.include({ type: 'wake', loop: 'promotions', key: 'p1', trigger: 'branches moved' });
    expect(told).to.deep.include({ type: 'ui', environmentId: env.id, topics: ['promotions', 'git'] });
  });

  it('are looked at a few in a pass, which comes again at once until all were', async () => {
    const headSha = await propose('topic-0', { more: idleManifest('more') });
    for (let n = 1; n < 22; n += 1) {
      env.repository.git('update-ref', `refs/heads/topic-${n}`, headSha);
      await insertOpen(`topic-${n}`, headSha);
    }
    expect((await env.pass()).requeue).to.equal(true);
    expect((await all()).filter(({ mergeable }) => mergeable === 'clean')).to.have.length(20);
    expect((await env.pass()).requeue).to.equal(undefined);
    expect((await all()).every(({ mergeable }) => mergeable === 'clean')).to.equal(true);
  });

  describe('in the copy of a remote', () => {
    const remote = (more: Partial<Remote> = {}): Remote => ({
      ...{ fetch: async () => undefined, distrust: () => undefined },
      ...{ heads: async () => new Map(), meet: async () => undefined, fetchCommit: async () => undefined },
      ...more,
    });

    it('stay open as long as the remote has the branch, which the copy need not hold', async () => {
      const sha = await propose('first');
      env.repository.git('update-ref', '-d', 'refs/heads/first');
      await env.pass({ remote: remote({ heads: async () => new Map([['first', sha]]) }) });
      expect(await states()).to.deep.equal({ first: 'open' });
      await env.pass({ remote: remote() });
      expect(await states()).to.deep.equal({ first: 'closed' });
    });

    it('stay as they are while the remote does not say where its branches stand', async () => {
      await propose('first');
      const silent = async () => {
        throw new RepositoryError('unreachable', 'it does not answer');
      };
      const { outcome } = await env.pass({ remote: remote({ heads: silent }) });
      expect(outcome).to.equal('unchanged');
      expect(await states()).to.deep.equal({ first: 'open' });
    });
  });
});
