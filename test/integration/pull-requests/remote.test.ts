/** Pull requests that are kept here, for a repository on a git server without a forge. */
import { expect } from 'chai';
import { mergeResult } from '../../../reconcilers/merge/merge-result.ts';
import { git } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { MirrorScene } from '../../support/scenes/mirrors.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';
import { WorkTree } from '../../support/scenes/pull-workspace.ts';
import { GitServer } from '../../support/servers/git-server.ts';

const FOLDER = 'environments/staging';

describe('the history between two branches of a remote', function () {
  this.timeout(60_000);
  let server: GitServer;
  let scene: MirrorScene;
  const { signal } = new AbortController();
  before(async () => {
    server = await GitServer.start();
    server.create();
  });
  beforeEach(() => {
    scene = new MirrorScene();
  });
  afterEach(() => scene.close());
  after(() => server.stop());

  it('is fetched down to the merge base, with the files that a merge reads', async () => {
    const gitdir = server.gitdir();
    server.commit({ files: { 'a.yaml': '1\n2\n3\n4\n5\n6\n', 'huge.bin': Buffer.alloc(3_000_000, 'x') } });
    git(gitdir, 'update-ref', 'refs/heads/topic', 'refs/heads/main');
    for (let n = 0; n < 15; n += 1) server.commit({ files: { 'b.yaml': `${n}\n` } });
    for (let n = 0; n < 4; n += 1)
      server.commit({ branch: 'topic', files: { 'a.yaml': `${n}\n2\n3\n4\n5\n6\n` } });
    server.commit({ files: { 'a.yaml': '1\n2\n3\n4\n5\nSIX\n' } });
    const handle = scene.of(server.url());
    await handle.fetch(signal);
    const heads = await handle.meet({ base: 'main', head: 'topic' }, signal);
    const [base, head] = [heads.get('main') ?? '', heads.get('topic') ?? ''];
    expect([base, head]).to.deep.equal([git(gitdir, 'rev-parse', 'main'), git(gitdir, 'rev-parse', 'topic')]);
    const merged = await mergeResult(handle.gitdir, { base, head }, signal);
    expect(merged).to.deep.include({
      mergeBase: git(gitdir, 'merge-base', 'main', 'topic'),
      conflicts: [],
      isIn: false,
    });
    expect(git(handle.gitdir, 'cat-file', 'blob', `${merged.commit}:a.yaml`)).to.equal('3\n2\n3\n4\n5\nSIX');
    // A branch at a commit that is here already does not cut the history below it.
    git(gitdir, 'update-ref', 'refs/heads/middle', 'refs/heads/main~5');
    await handle.meet({ base: 'main', head: 'middle' }, signal);
    expect(git(handle.gitdir, 'rev-list', '--count', 'main').length).to.be.above(1);
    expect(git(handle.gitdir, 'merge-base', 'main', 'topic')).to.equal(merged.mergeBase);
    expect(await handle.heads(['topic', 'gone'], signal)).to.deep.equal(new Map([['topic', head]]));
  });

  it('is deleted as a branch only while that is where it was left', async () => {
    const gitdir = server.gitdir();
    git(gitdir, 'update-ref', 'refs/heads/over', 'refs/heads/main');
    const handle = scene.of(server.url());
    await handle.meet({ base: 'main', head: 'over' }, signal);
    const [tip, other] = [git(gitdir, 'rev-parse', 'over'), git(gitdir, 'rev-parse', 'main~1')];
    expect(await handle.remove({ ref: 'refs/heads/over', expect: other }, signal)).to.equal('rejected');
    expect(await handle.remove({ ref: 'refs/heads/over', expect: tip }, signal)).to.equal('ok');
    expect(git(gitdir, 'for-each-ref', 'refs/heads/over')).to.equal('');
  });
});

describe('pull requests of a remote without a forge', function () {
  this.timeout(90_000);
  let server: GitServer;
  let test: TestController;
  let places: TestEnvironments;
  let gitdir: string;
  let environmentId: string;

  before(async () => {
    server = await GitServer.start();
    gitdir = server.create();
    for (let n = 0; n < 5; n += 1)
      server.commit({ files: { [`${FOLDER}/pipelines/web.yaml`]: idleManifest('web', `${n}`) } });
    test = await startTestController();
    places = await makeTestEnvironments(test);
    ({ environmentId } = places);
    await places.admin.mutate('gitSync.configure', {
      ...{ environmentId, mode: 'sync', repositoryUrl: server.url(), path: FOLDER },
    });
    await until(async () => (await test.db('pipelines')).length === 1, {
      what: 'it was applied',
      everyMs: 50,
    });
  });
  after(async () => {
    await test?.stop();
    await server?.stop();
  });

  async function opened(name: string, count = 1) {
    git(gitdir, 'update-ref', `refs/heads/${name}`, 'refs/heads/main');
    for (let n = 0; n < count; n += 1)
      server.commit({
        ...{ branch: name, message: `${name} ${n}` },
        files: { [`${FOLDER}/pipelines/${name}.yaml`]: idleManifest(name, `${n}`) },
      });
    const { number } = await places.editor.mutate<{ number: number }>('pullRequest.open', {
      ...{ environmentId, branch: name, title: name },
    });
    return { number, headSha: git(gitdir, 'rev-parse', name) };
  }
  const show = (number: number) =>
    places.viewer.query<{ state: string; mergeSha: string | null; commits: object[] }>('pullRequest.get', {
      ...{ environmentId, number },
    });
  const passes = () =>
    test.controller
      .systemContext('test')
      .services.bus.publish(test.db, { type: 'wake', loop: 'git', key: environmentId, trigger: 'test' });
  const ends = async (number: number, state: string) => {
    await passes();
    await until(async () => (await show(number)).state === state, {
      what: `#${number} was ${state}`,
      everyMs: 50,
    });
  };

  it('are merged on the remote, commit by commit as well', async () => {
    for (const method of ['merge', 'rebase']) {
      const { number, headSha } = await opened(method, 2);
      server.commit({ files: { 'README.md': `meanwhile ${method}\n` } });
      const diff = await places.viewer.query<{ files: object[] }>('pullRequest.diff', {
        environmentId,
        number,
      });
      expect(diff.files).to.have.length(1);
      expect((await show(number)).commits).to.have.length(2);
      const { mergeSha } = await places.editor.mutate<{ mergeSha: string }>('pullRequest.merge', {
        ...{ environmentId, number, method, headSha },
      });
      expect(git(gitdir, 'rev-parse', 'main')).to.equal(mergeSha);
      expect(git(gitdir, 'for-each-ref', `refs/heads/${method}`)).to.equal('');
    }
    expect(git(gitdir, 'fsck', '--strict', '--no-dangling')).to.equal('');
    await until(async () => (await test.db('pipelines')).length === 3, {
      what: 'all were applied',
      everyMs: 50,
    });
  });

  it('are brought up to date on the remote', async () => {
    const { number, headSha } = await opened('behind');
    server.commit({ files: { 'README.md': 'ahead\n' } });
    await places.editor.mutate('pullRequest.refresh', { environmentId, number });
    expect(git(gitdir, 'rev-parse', 'behind^1', 'behind^2').split('\n')).to.deep.equal([
      ...[headSha, git(gitdir, 'rev-parse', 'main')],
    ]);
    await places.editor.mutate('pullRequest.close', { environmentId, number });
  });

  it('are recognised after a squash on the remote that deleted the branch', async () => {
    const { number } = await opened('squashed', 2);
    server.commit({ files: { 'README.md': 'more\n' } });
    const tree = new WorkTree(gitdir);
    try {
      for (const args of [
        ['merge', '--squash', 'origin/squashed'],
        ['commit', '-qm', 'squashed'],
        ['push', '-q', 'origin', 'HEAD:main', ':squashed'],
      ])
        expect(tree.git(...args), args.join(' ')).not.to.equal(null);
    } finally {
      tree.remove();
    }
    await ends(number, 'merged');
    expect((await show(number)).mergeSha).to.equal(git(gitdir, 'rev-parse', 'main'));
  });

  it('follow their branch where it moves, and are closed where it is deleted', async () => {
    const { number } = await opened('moving');
    const moved = server.commit({ branch: 'moving', files: { 'notes.md': 'a review\n' } });
    await passes();
    const row = () => test.db('pull_requests').where({ number }).first('head_sha', 'mergeable');
    await until(async () => (await row()).head_sha === moved, { what: 'the push was seen', everyMs: 50 });
    expect(await row()).to.deep.equal({ head_sha: moved, mergeable: 'clean' });
    git(gitdir, 'update-ref', '-d', 'refs/heads/moving');
    await ends(number, 'closed');
  });

  it('stay open where the server does not answer a merge', async () => {
    const { number, headSha } = await opened('silent');
    server.mischief = () => ({ status: 503 });
    try {
      expect(
        await refusal(places.editor, 'mutation', 'pullRequest.merge', {
          ...{ environmentId, number, headSha, method: 'merge' },
        }),
      ).to.match(/^SERVICE_UNAVAILABLE: The repository cannot be used at the moment: /);
    } finally {
      server.mischief = () => null;
    }
    expect((await show(number)).state).to.equal('open');
  });
});
