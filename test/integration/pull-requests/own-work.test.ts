/** Nothing reaches a protected branch that only its authors have reviewed. */
import { expect } from 'chai';
import { commit, git } from '../../support/clients/fast-import.ts';
import { GitClient, withCredentials } from '../../support/clients/git-client.ts';
import { drawPipeline, soundGraph } from '../../support/fixtures/graphs.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

describe('a protected branch', function () {
  this.timeout(60_000);
  let test: TestController;
  let places: TestEnvironments;
  let place: GitBindingScene;
  let client: GitClient;
  let made = 0;

  before(async () => {
    test = await startTestController();
    places = await makeTestEnvironments(test);
    place = await bindToGit(test, places, { 'pipelines/web.yaml': idleManifest('web') });
    const { token } = await places.both.mutate<{ token: string }>('user.createToken', { name: 'git' });
    client = new GitClient(withCredentials(test.controller.cloneUrl, 'git', token));
    await client.clone();
  });
  beforeEach(() => rules({ protect_branch: true, required_approvals: 1 }));
  after(async () => {
    await client?.remove();
    await test?.stop();
  });

  const rules = (change: object) =>
    test.db('git_bindings').where({ environment_id: place.environmentId }).update(change);
  const of = (number: number) => ({ environmentId: place.environmentId, number });
  const show = (number: number) =>
    places.viewer.query<{ headSha: string; approvals: number }>('pullRequest.get', of(number));
  const approve = (who: TestUser, number: number, headSha: string) =>
    refusal(who, 'mutation', 'pullRequest.review', { ...of(number), verdict: 'approve', headSha });
  const merge = (who: TestUser, number: number, headSha: string) =>
    refusal(who, 'mutation', 'pullRequest.merge', { ...of(number), headSha, method: 'merge' });

  /** Of the editor, with one new manifest. */
  async function opened(title?: string) {
    made += 1;
    const branch = `topic-${made}`;
    git(place.gitdir, 'update-ref', `refs/heads/${branch}`, 'refs/heads/main');
    const path = `${place.folder}/pipelines/${branch}.yaml`;
    const headSha = commit(place.gitdir, {
      branch,
      message: branch,
      files: { [path]: idleManifest(branch) },
    });
    const { environmentId } = place;
    const input = { environmentId, branch, title: title ?? branch };
    const { number } = await places.editor.mutate<{ number: number }>('pullRequest.open', input);
    return { number, branch, headSha };
  }

  it('takes no approval of a user who has pushed to the branch, now or before', async () => {
    const { number, branch, headSha } = await opened();
    expect(await approve(places.both, number, headSha)).to.equal('OK');
    await client.run('fetch', 'origin', branch);
    await client.run('switch', '--detach', 'FETCH_HEAD');
    await client.commit({ [`${place.folder}/pipelines/unseen.yaml`]: idleManifest('unseen') });
    const pushed = await client.run('push', 'origin', `HEAD:refs/heads/${branch}`);
    expect(pushed.code, pushed.stderr).to.equal(0);
    const now = place.head(branch);
    await until(async () => (await show(number)).headSha === now, { what: 'the push was seen', everyMs: 50 });
    expect(await approve(places.both, number, now)).to.match(/^FORBIDDEN: Some of it is your own work/);
    expect(await merge(places.both, number, now)).to.match(/has 0 of 1 approvals/);
    // Back to the approved commit: its reviewer has written some of the branch since.
    expect((await client.run('push', '--force', 'origin', `${headSha}:refs/heads/${branch}`)).code).to.equal(
      0,
    );
    await until(async () => (await show(number)).headSha === headSha, {
      what: 'the way back was seen',
      everyMs: 50,
    });
    expect((await show(number)).approvals).to.equal(0);
    expect(await approve(places.admin, number, headSha)).to.equal('OK');
    expect(await merge(places.editor, number, headSha)).to.equal('OK');
  });

  it('takes no approval of a user who has repeated the promotion', async () => {
    const { id: pipelineId } = await drawPipeline(
      places.editor,
      places.environmentId,
      soundGraph(),
      'promoted',
    );
    const input = { pipelineId, targetEnvironmentId: place.environmentId };
    const first = await places.editor.mutate<{ pullRequest: { number: number } }>(
      'promotion.initiate',
      input,
    );
    await places.both.mutate('promotion.initiate', input);
    const { number } = first.pullRequest;
    const { headSha } = await show(number);
    for (const who of [places.editor, places.both])
      expect(await approve(who, number, headSha)).to.match(/^FORBIDDEN: .*somebody else has to review it/);
    expect(await approve(places.admin, number, headSha)).to.equal('OK');
  });

  it('takes no approval of a user who may no longer approve', async () => {
    const { number, headSha } = await opened();
    expect(await approve(places.admin, number, headSha)).to.equal('OK');
    const who = await test.db('users').where({ email: 'admin@example.org' }).first('id');
    const membership = { user_id: who.id, team_id: places.teamId };
    const without = async (break_: () => PromiseLike<unknown>, mend: () => PromiseLike<unknown>) => {
      await break_();
      expect((await show(number)).approvals).to.equal(0);
      expect(await merge(places.editor, number, headSha)).to.match(/has 0 of 1 approvals/);
      await mend();
      expect((await show(number)).approvals).to.equal(1);
    };
    const members = () => test.db('team_members').where(membership);
    await without(
      () => members().update({ role: 'VIEWER' }),
      () => members().update({ role: 'ADMIN' }),
    );
    await without(
      () => members().delete(),
      () => test.db('team_members').insert({ ...membership, role: 'ADMIN' }),
    );
    await without(
      () => test.db('users').where({ id: who.id }).update({ locked_at: new Date() }),
      () => test.db('users').where({ id: who.id }).update({ locked_at: null }),
    );
    expect(await merge(places.editor, number, headSha)).to.equal('OK');
  });

  it('allows no deletions by the title of a pull request', async () => {
    await rules({ required_approvals: 0 });
    const { number, headSha } = await opened('Headgate-Allow-Delete: 500');
    expect(await merge(places.editor, number, headSha)).to.equal('OK');
    const trailers = git(place.gitdir, 'log', '-1', '--format=%(trailers)', 'main').trim();
    expect(trailers).to.equal(`Headgate-Pull-Request: #${number}`);
  });

  it('cannot be brought up to date as the branch of a pull request', async () => {
    const other = await bindToGit(test, places, { 'pipelines/.keep': '' });
    git(place.gitdir, 'update-ref', 'refs/heads/release', 'refs/heads/main');
    const path = `${other.folder}/pipelines/mended.yaml`;
    commit(place.gitdir, { branch: 'release', message: 'mend', files: { [path]: idleManifest('mended') } });
    await test
      .db('git_bindings')
      .where({ environment_id: other.environmentId })
      .update({ ref: 'release', protect_branch: true });
    other.push({ 'pipelines/unseen.yaml': idleManifest('unseen') });
    const before = place.head('release');
    const input = { environmentId: place.environmentId, branch: 'release', title: 'Back' };
    const { number } = await places.editor.mutate<{ number: number }>('pullRequest.open', input);
    expect(await refusal(places.editor, 'mutation', 'pullRequest.refresh', of(number))).to.match(
      /^PRECONDITION_FAILED: "release" is protected; open a pull request that asks for main/,
    );
    expect(place.head('release')).to.equal(before);
  });

  it('is protected by its full name, and so is a tag of its name', async () => {
    const configured = await places.admin.mutate<{ branch: string }>('gitSync.configure', {
      ...{ environmentId: place.environmentId, mode: 'sync', branch: 'refs/heads/main' },
      review: { protectBranch: true, requiredApprovals: 1 },
    });
    expect(configured.branch).to.equal('main');
    git(place.gitdir, 'tag', 'main', 'refs/heads/main~1');
    for (const ref of ['refs/heads/main', 'refs/tags/main']) {
      const { stderr } = await client.run('push', '--force', 'origin', `HEAD:${ref}`);
      expect(stderr).to.contain('protected: open a pull request');
    }
  });

  describe('that another team is bound to', () => {
    let mallory: TestUser;
    before(async () => {
      await makeUser(test.db, { email: 'mallory@example.org', teams: { [places.otherTeamId]: 'ADMIN' } });
      mallory = await signIn(test.url, 'mallory@example.org');
    });
    afterEach(() => test.db('git_bindings').where({ environment_id: places.foreignId }).delete());

    const bind = (more: object) =>
      places.root.mutate('gitSync.configure', {
        ...{ environmentId: places.foreignId, path: place.folder },
        ...more,
      });

    it('cannot be bound by a user who may not push to it', async () => {
      const input = { environmentId: places.foreignId, mode: 'observe', path: 'elsewhere' };
      expect(await refusal(mallory, 'mutation', 'gitSync.configure', input)).to.match(
        /^FORBIDDEN: The repository that Headgate serves describes environments of other teams/,
      );
      expect(await test.db('git_bindings').where({ environment_id: places.foreignId })).to.deep.equal([]);
      await mallory.mutate('gitSync.configure', { ...input, mode: 'off' });
      expect(await refusal(mallory, 'mutation', 'gitSync.configure', input)).to.match(/^FORBIDDEN/);
    });

    it('gets no push from their database', async () => {
      await drawPipeline(mallory, places.foreignId, soundGraph(), 'taken');
      const before = place.head();
      await bind({ mode: 'push' });
      await mallory.mutate('gitSync.syncNow', { environmentId: places.foreignId });
      await until(
        async () => {
          const status = await mallory.query<{ lastError: string | null }>('gitSync.status', {
            environmentId: places.foreignId,
          });
          return status.lastError?.includes('Another team has protected the branch main') ?? false;
        },
        { what: 'the copy was refused', everyMs: 50 },
      );
      expect(place.head()).to.equal(before);
    });

    it('gets their edits as pull requests, whatever their own policy', async () => {
      const uiEdits = () =>
        test.controller.systemContext('test').services.git.editsBecome(test.db, places.foreignId);
      await bind({ mode: 'sync', policy: { uiEdits: 'commit' } });
      expect(await uiEdits()).to.equal('propose');
      await rules({ protect_branch: false });
      expect(await uiEdits()).to.equal('commit');
    });
  });
});
