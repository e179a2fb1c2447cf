/** A pull request from its branch to the nodes, through the doors of a controller that runs. */
import { expect } from 'chai';
import { commitStatusOf } from '../../../controller/delivery/pull-requests/index.ts';
import type { PullRequest, PullRequestPlan } from '../../../schemas/api/pull-requests.ts';
import { git } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { makeTestEnvironments } from '../../support/scenes/places.ts';

describe('a pull request, from outside', () => {
  let test: TestController;
  let place: GitBindingScene;
  before(async function () {
    this.timeout(60_000);
    test = await startTestController();
    place = await bindToGit(test, await makeTestEnvironments(test), { 'web.yaml': idleManifest('web') });
  });
  after(() => test?.stop());

  const which = () => ({ environmentId: place.environmentId, number: 1 });
  const check = async () => (await place.viewer.query<PullRequest>('pullRequest.get', which())).checks[0];
  const untilChecked = (summary: string, headSha: string) =>
    until(
      async () => {
        const found = await check();
        return found?.summary === summary && found.headSha === headSha;
      },
      { what: `a check that says ${summary}`, everyMs: 50 },
    );
  /** A push to the branch, which begins where main stands. */
  function push(files: Record<string, string>): string {
    const main = place.head();
    const sha = place.push(files);
    git(place.gitdir, 'update-ref', 'refs/heads/topic', sha);
    git(place.gitdir, 'update-ref', 'refs/heads/main', main);
    return sha;
  }

  it('is planned once it is open, again when it is pushed to, and followed when it is merged', async function () {
    this.timeout(120_000);
    const first = push({ 'web.yaml': idleManifest('web', 'x') });
    await place.editor.mutate('pullRequest.open', {
      environmentId: place.environmentId,
      ...{ branch: 'topic', title: 'Another web' },
    });
    await untilChecked('1 changed', first);
    const { plan, reason } = await place.viewer.query<PullRequestPlan>('pullRequest.plan', which());
    expect(reason).to.equal(null);
    expect(plan?.changes.map(({ action, name }) => [action, name])).to.deep.equal([['update', 'web']]);
    const second = push({ 'web.yaml': idleManifest('web', 'x'), 'new.yaml': idleManifest('new') });
    await untilChecked('1 changed, 1 created', second);
    const { mergeSha } = await place.editor.mutate<{ mergeSha: string }>('pullRequest.merge', {
      ...{ ...which(), method: 'merge', headSha: second },
    });
    await place.applied(mergeSha);
    await until(
      async () => (await commitStatusOf(test.db, place.environmentId, mergeSha))?.state === 'success',
      { what: 'the commit to be rolled out', everyMs: 50 },
    );
  });
});
