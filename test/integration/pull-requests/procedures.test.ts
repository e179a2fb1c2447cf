/** Pull requests of the embedded repository, from opening to merging, through the API of a real controller. */
import { expect } from 'chai';
import { findBinding } from '../../../controller/delivery/bindings/index.ts';
import { commitStatusOf, findPullRequest } from '../../../controller/delivery/pull-requests/index.ts';
import type { PullRequestPlan } from '../../../schemas/api/delivery/pull-requests.ts';
import { commit, git } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';
import type { TestUser } from '../../support/users/person.ts';

interface Shown {
  id: string;
  state: string;
  headSha: string;
  baseSha: string;
  mergeSha: string | null;
  mergeMethod: string | null;
  mergedBy: string | null;
  mergeable: string;
  approvals: number;
  requiredApprovals: number;
  checks: { headSha: string; summary: string }[];
  commits: { sha: string; author: string; subject: string }[];
  comments: { author: string; body: string; own: boolean }[];
  reviews: { reviewer: string; verdict: string; current: boolean }[];
  merge: { refusal: string | null };
  review: { refusal: string | null };
}

describe('pull requests that are kept here', function () {
  this.timeout(60_000);
  let test: TestController;
  let places: TestEnvironments;
  let place: GitBindingScene;
  let made = 0;

  before(async () => {
    test = await startTestController();
    places = await makeTestEnvironments(test);
    place = await bindToGit(test, places, { 'pipelines/web.yaml': idleManifest('web') });
  });
  after(() => test?.stop());
  afterEach(async () => {
    await test.db('git_bindings').update({ required_approvals: 0, protect_branch: false });
  });

  const next = () => {
    made += 1;
    return made;
  };
  const of = (number: number) => ({ environmentId: place.environmentId, number });
  const show = (number: number, who: TestUser = places.viewer) =>
    who.query<Shown>('pullRequest.get', of(number));
  /** Files below the environment's folder, on a branch that begins where the base stands. */
  function branch(files: Record<string, string | null>, name = `topic-${next()}`): string {
    const known = git(place.gitdir, 'for-each-ref', `refs/heads/${name}`) !== '';
    if (!known) git(place.gitdir, 'update-ref', `refs/heads/${name}`, 'refs/heads/main');
    commit(place.gitdir, {
      ...{ branch: name, message: `for ${name}` },
      files: Object.fromEntries(
        Object.entries(files).map(([path, text]) => [`${place.folder}/${path}`, text]),
      ),
    });
    return name;
  }
  async function opened(files: Record<string, string | null>, who: TestUser = places.editor) {
    const name = branch(files);
    const { number } = await who.mutate<{ number: number }>('pullRequest.open', {
      ...{ environmentId: place.environmentId, branch: name, title: ` Change ${name} `, body: 'Because' },
    });
    return { number, name, headSha: place.head(name) };
  }
  const merge = (
    pull: { number: number; headSha: string },
    more: object = {},
    who: TestUser = places.editor,
  ) =>
    who.call('mutation', 'pullRequest.merge', {
      ...{ ...of(pull.number), headSha: pull.headSha, method: 'merge', ...more },
    });
  const unique = () => {
    const name = `p${next()}`;
    return { [`pipelines/${name}.yaml`]: idleManifest(name) };
  };
  /** `OK`, or the code and the message of the error. */
  const outcome = async (answer: Promise<{ fault: { message: string; data: { code: string } } | null }>) => {
    const { fault } = await answer;
    return fault ? `${fault.data.code}: ${fault.message}` : 'OK';
  };
  const mutation = (name: string, input: object, who: TestUser = places.editor) =>
    refusal(who, 'mutation', `pullRequest.${name}`, input);

  it('are opened, planned, diffed, commented, approved, merged, applied and followed', async () => {
    const pull = await opened({ 'pipelines/orders.yaml': idleManifest('orders') });
    const before = place.head();
    await until(async () => (await show(pull.number)).checks[0]?.summary === '1 created', {
      what: 'the check',
      everyMs: 50,
    });
    expect((await show(pull.number)).checks[0]).to.include({ headSha: pull.headSha });
    const planned = await places.viewer.query<PullRequestPlan>('pullRequest.plan', of(pull.number));
    expect(planned.plan?.changes.map(({ action, name }) => [action, name])).to.deep.equal([
      ['create', 'orders'],
    ]);
    const diff = await places.viewer.query<{ files: { path: string; status: string; patch: string }[] }>(
      'pullRequest.diff',
      of(pull.number),
    );
    expect(diff.files.map(({ path, status }) => [path, status])).to.deep.equal([
      [`${place.folder}/pipelines/orders.yaml`, 'added'],
    ]);
    expect(diff.files[0]?.patch).to.contain('+metadata: { name: orders }');
    await places.admin.mutate('pullRequest.comment', { ...of(pull.number), body: 'Well done' });
    const { headSha } = pull;
    await places.admin.mutate('pullRequest.review', { ...of(pull.number), verdict: 'approve', headSha });
    const shown = await show(pull.number, places.admin);
    expect(shown).to.include({ state: 'open', approvals: 1, mergeable: 'clean', headSha, baseSha: before });
    expect(shown.merge.refusal).to.equal(null);
    expect(shown.commits.map(({ sha, subject }) => [sha, subject])).to.deep.equal([
      [headSha, `for ${pull.name}`],
    ]);
    expect(shown.comments).to.have.length(1);
    expect(shown.comments[0]).to.include({ body: 'Well done', own: true });
    expect(shown.reviews[0]).to.include({ verdict: 'approve', current: true });

    const { output } = await merge(pull, { method: 'squash' });
    const mergeSha = place.head();
    expect(output).to.deep.equal({ number: pull.number, mergeSha });
    const { environmentId } = place;
    await until(async () => (await commitStatusOf(test.db, environmentId, mergeSha))?.state === 'success', {
      what: 'the commit to be rolled out',
      everyMs: 50,
    });
    expect(await test.db('pipelines').where({ name: 'orders' })).to.have.length(1);
    const after = await show(pull.number);
    expect(after).to.include({ state: 'merged', mergeSha, mergeMethod: 'squash', baseSha: before });
    expect(after.mergedBy).to.be.a('string').and.not.equal('');
    expect(git(place.gitdir, 'for-each-ref', `refs/heads/${pull.name}`)).to.equal('');
    // Its changes stay readable.
    expect(after.commits).to.have.length(1);
    const again = await places.viewer.query<{ filesTotal: number }>('pullRequest.diff', of(pull.number));
    expect(again.filesTotal).to.equal(1);
    const audited = await test
      .db('audit_log')
      .where({ entity_id: after.id })
      .orderBy('id')
      .select('action', 'metadata', 'commit_sha');
    expect(audited.map(({ action }) => action)).to.deep.equal([
      ...['pullRequest.opened', 'pullRequest.commented', 'pullRequest.reviewed', 'pullRequest.merged'],
    ]);
    expect(audited[3].metadata).to.include({ number: pull.number, method: 'squash', mergeSha });
  });

  it('cannot be opened where the branch has nothing to merge', async () => {
    const { environmentId } = place;
    git(place.gitdir, 'update-ref', 'refs/heads/behind', 'refs/heads/main~1');
    commit(place.gitdir, { branch: 'alien', message: 'x', files: { x: 'x' }, orphan: true });
    const pull = await opened(unique());
    for (const [name, answer] of [
      ['main', /^PRECONDITION_FAILED: "main" is the branch itself/],
      ['nowhere', /^PRECONDITION_FAILED: The repository has no branch "nowhere"/],
      ['behind', /^PRECONDITION_FAILED: Everything of "behind" is in "main" already/],
      ['alien', /no history in common/],
      ['../../../etc', /^PRECONDITION_FAILED/],
      ['--help', /^PRECONDITION_FAILED/],
      [pull.name, new RegExp(`^CONFLICT: #${pull.number} asks for "${pull.name}" already; go on there$`)],
    ] as const)
      expect(await mutation('open', { environmentId, branch: name, title: 'x' }), name).to.match(answer);
  });

  it('are opened once by requests at the same time, with the next number', async () => {
    const { number } = await opened(unique());
    const input = { environmentId: place.environmentId, branch: branch(unique()), title: 'x' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        places.editor.call<{ number: number }>('mutation', 'pullRequest.open', input),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 200)?.output?.number).to.equal(number + 1);
  });

  it('are not approved by their author, and not merged without the required approvals', async () => {
    await test.db('git_bindings').update({ required_approvals: 1 });
    const pull = await opened(unique());
    const { headSha } = pull;
    const review = (who: TestUser, verdict: string, sha = place.head(pull.name)) =>
      mutation('review', { ...of(pull.number), verdict, headSha: sha }, who);
    expect(await review(places.editor, 'approve')).to.match(/^FORBIDDEN: You opened it/);
    expect(await review(places.viewer, 'approve')).to.match(/^FORBIDDEN: .*EDITOR/);
    const refused = await outcome(merge(pull));
    expect(refused).to.match(/^PRECONDITION_FAILED: It has 0 of 1 approvals/);
    const shown = await show(pull.number, places.editor);
    expect(`PRECONDITION_FAILED: ${shown.merge.refusal}`).to.equal(refused);
    expect(shown.review.refusal).to.match(/You opened it/);
    expect((await show(pull.number)).review.refusal).to.match(/EDITOR/);
    expect(await review(places.admin, 'request-changes')).to.equal('OK');
    expect(await outcome(merge(pull))).to.match(/has asked for changes/);
    expect(await review(places.admin, 'approve')).to.equal('OK');
    expect((await show(pull.number, places.editor)).merge.refusal).to.equal(null);
    // Nobody has reviewed what is pushed now.
    branch(unique(), pull.name);
    expect(await outcome(merge({ ...pull, headSha: place.head(pull.name) }))).to.match(/has 0 of 1/);
    expect(await outcome(merge(pull))).to.match(/^CONFLICT: .* now; review the new commits/);
    await until(async () => (await show(pull.number)).headSha === place.head(pull.name), {
      what: 'the push was seen',
      everyMs: 50,
    });
    expect(await review(places.admin, 'approve', headSha)).to.match(/^CONFLICT: .*now; review it again/);
    expect(await review(places.admin, 'approve')).to.equal('OK');
    expect(await outcome(merge({ ...pull, headSha: place.head(pull.name) }))).to.equal('OK');
  });

  it('are merged once by requests at the same time', async () => {
    const pull = await opened(unique());
    const before = place.head();
    const answers = await Promise.all(Array.from({ length: 6 }, () => merge(pull)));
    expect(answers.filter(({ status }) => status === 200).length).to.be.at.least(1);
    expect(git(place.gitdir, 'rev-list', '--first-parent', '--count', `${before}..main`)).to.equal('1');
    expect(await show(pull.number)).to.include({
      state: 'merged',
      mergeMethod: 'merge',
      mergeSha: place.head(),
    });
  });

  it('are recognised as merged after a kill between the push and the row', async () => {
    const pull = await opened(unique());
    const row = await test.db('pull_requests').where({ number: pull.number, repository: 'embedded' }).first();
    const ctx = test.controller.systemContext('test');
    const binding = await findBinding(test.db, place.environmentId);
    const record = await findPullRequest(test.db, row.id);
    if (!binding || !record) throw new Error('the pull request has no row');
    const { mergeSha } = await ctx.services.pullRequests.merge(ctx, binding, record, {
      ...{ method: 'squash', headSha: pull.headSha },
    });
    await until(async () => (await show(pull.number)).state === 'merged', {
      what: 'it was recognised',
      everyMs: 50,
    });
    expect((await show(pull.number)).mergeSha).to.equal(mergeSha);
    expect(await outcome(merge(pull))).to.match(/is merged already/);
    expect(place.head()).to.equal(mergeSha);
  });

  it('are closed and reopened at the head of their branch', async () => {
    const pull = await opened(unique());
    await places.editor.mutate('pullRequest.close', of(pull.number));
    expect(await mutation('close', of(pull.number))).to.match(/^PRECONDITION_FAILED: #\d+ is closed already/);
    expect(await outcome(merge(pull))).to.match(/is closed; reopen it first/);
    branch(unique(), pull.name);
    await places.editor.mutate('pullRequest.reopen', of(pull.number));
    expect(await show(pull.number)).to.include({ state: 'open', headSha: place.head(pull.name) });
    await places.editor.mutate('pullRequest.close', of(pull.number));
    const { number } = await places.editor.mutate<{ number: number }>('pullRequest.open', {
      ...{ environmentId: place.environmentId, branch: pull.name, title: 'Once more' },
    });
    expect(await mutation('reopen', of(pull.number))).to.equal(
      `CONFLICT: #${number} asks for "${pull.name}" already; go on there`,
    );
    expect(await outcome(merge({ number, headSha: place.head(pull.name) }))).to.equal('OK');
    expect(await mutation('reopen', of(number))).to.match(/is merged; open a new one/);
    expect(await mutation('reopen', of(pull.number))).to.match(/^PRECONDITION_FAILED: /);
  });

  it('are brought up to date by a commit on top, and name the files that conflict', async () => {
    const pull = await opened({ 'notes.md': 'ours\n' });
    const main = place.push({ 'other.md': 'theirs\n' });
    await places.editor.mutate('pullRequest.refresh', of(pull.number));
    expect(git(place.gitdir, 'rev-list', '--parents', '-1', pull.name)).to.equal(
      `${place.head(pull.name)} ${pull.headSha} ${main}`,
    );
    expect(await show(pull.number)).to.include({ headSha: place.head(pull.name), baseSha: main });
    // Nothing is left to bring in.
    const head = place.head(pull.name);
    await places.editor.mutate('pullRequest.refresh', of(pull.number));
    expect(place.head(pull.name)).to.equal(head);
    place.push({ 'notes.md': 'theirs\n' });
    expect(await mutation('refresh', of(pull.number))).to.match(
      new RegExp(`^CONFLICT: It conflicts with main in ${place.folder}/notes.md; merge main into`),
    );
    expect(place.head(pull.name)).to.equal(head);
    await until(async () => (await show(pull.number)).mergeable === 'conflict', {
      what: 'it was seen',
      everyMs: 50,
    });
    expect((await show(pull.number, places.editor)).merge.refusal).to.match(/^It conflicts with main in /);
  });

  it('keep a branch that an environment is bound to, and one that the merge shall keep', async () => {
    const pull = await opened(unique());
    await test.db('git_bindings').insert({
      ...{ id: 'sibling', environment_id: places.siblingId, mode: 'sync', ref: pull.name, path: 'nowhere' },
    });
    try {
      expect(await outcome(merge(pull))).to.equal('OK');
      expect(place.head(pull.name)).to.equal(pull.headSha);
    } finally {
      await test.db('git_bindings').where({ id: 'sibling' }).delete();
    }
    const kept = await opened(unique());
    expect(await outcome(merge(kept, { deleteBranch: false }))).to.equal('OK');
    expect(place.head(kept.name)).to.equal(kept.headSha);
  });

  it('change a branch for an EDITOR in every team of the repository only', async () => {
    const pull = await opened(unique());
    const name = branch(unique());
    await test.db('git_bindings').insert({
      ...{ id: 'foreign', environment_id: places.foreignId, mode: 'sync', path: 'elsewhere' },
    });
    try {
      const { environmentId } = place;
      for (const [procedure, input] of [
        ['open', { environmentId, branch: name, title: 'x' }],
        ['merge', { ...of(pull.number), method: 'merge', headSha: pull.headSha }],
        ['close', of(pull.number)],
        ['refresh', of(pull.number)],
        ['reopen', of(pull.number)],
      ] as const)
        expect(await mutation(procedure, input), procedure).to.match(/^FORBIDDEN: .*EDITOR in every team/);
      expect((await show(pull.number, places.editor)).merge.refusal).to.match(/EDITOR in every team/);
      // A comment needs the role in one team only.
      await places.editor.mutate('pullRequest.comment', { ...of(pull.number), body: 'Please' });
      // The other team sees it too, by its own environment and not by ours.
      const theirs = { environmentId: places.foreignId, number: pull.number };
      expect(await refusal(places.editor, 'query', 'pullRequest.get', theirs)).to.match(/^FORBIDDEN/);
      expect((await places.both.query<Shown>('pullRequest.get', theirs)).checks).to.be.an('array');
      expect(await outcome(merge(pull, {}, places.both))).to.equal('OK');
    } finally {
      await test.db('git_bindings').where({ id: 'foreign' }).delete();
    }
  });

  it('are not found against another branch than the bound one', async () => {
    const pull = await opened(unique());
    await test.db('pull_requests').where({ number: pull.number }).update({ base: 'release' });
    expect(await refusal(places.admin, 'query', 'pullRequest.get', of(pull.number))).to.match(/^NOT_FOUND/);
    expect(await refusal(places.admin, 'query', 'pullRequest.get', of(9_999))).to.match(/^NOT_FOUND/);
  });

  it('are changed on their forge where they live on one', async () => {
    const url = 'https://github.com/o/r/pull/5';
    const headSha = 'a'.repeat(40);
    await test.db('git_bindings').update({ forge: 'github', suspended_at: new Date() });
    await test.db('pull_requests').insert({
      ...{ id: 'there', repository: 'embedded', forge: 'github', number: 5, title: 'x', body: '', url },
      ...{ base: 'main', branch: 'x', head_sha: headSha, state: 'open', subject: '{}', author: 'Octo' },
    });
    try {
      for (const [procedure, input] of [
        ['merge', { method: 'merge', headSha }],
        ['edit', { title: 'y' }],
        ['comment', { body: 'y' }],
        ['review', { verdict: 'approve', headSha }],
        ['refresh', {}],
        ['reopen', {}],
      ] as const)
        expect(await mutation(procedure, { ...of(5), ...input }), procedure).to.equal(
          `PRECONDITION_FAILED: Do it at ${url}`,
        );
      expect((await show(5, places.editor)).merge.refusal).to.equal(`Do it at ${url}`);
      const { environmentId } = place;
      expect(await mutation('open', { environmentId, branch: 'x', title: 'x' })).to.match(
        /^PRECONDITION_FAILED: .*are on github; open it there/,
      );
    } finally {
      await test.db('git_bindings').update({ forge: 'none', suspended_at: null });
      await test.db('pull_requests').where({ id: 'there' }).delete();
    }
  });
});
