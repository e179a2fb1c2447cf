/** The mirror of pull requests that live on a forge: it ends as the forge has them, in whatever order calls come. */
import { expect } from 'chai';
import { mirrorPullRequest } from '../../../controller/delivery/pull-requests/index.ts';
import { ForgeError } from '../../../reconcilers/forges/forge.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';

const DAY_MS = 86_400_000;

describe('the mirror of a pull request on a forge', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  before(async () => {
    scene = await PullRequestScene.open();
  });
  const bind = async (where: 'near' | 'forge') => {
    env = await scene.environment(where);
    await env.apply({ web: idleManifest('web') });
  };
  beforeEach(() => bind('near'));
  afterEach(() => scene.clear());
  after(() => scene.close());

  const open = (number: number, files?: Record<string, string | null>) =>
    scene.openOnForge(env, number, files);

  it('is merged or closed at the next start where that happened meanwhile, and wakes the promotion once', async () => {
    const headSha = open(7);
    open(8);
    await scene.pass(env);
    const { repositoryUrl: repository } = await env.binding();
    for (const number of [7, 8])
      await mirrorPullRequest(scene.db, {
        ...scene.forge.set(number, {}),
        ...{ repository, forge: 'github', project: '' },
        ...{ subject: { promotionId: `promotion-${number}` }, bindingId: env.bindingId },
        ...{ author: 'Ada', updatedAt: undefined },
      } as never);
    await scene.restart();
    const closedAt = new Date(1_700_000_000_000);
    const merge = { mergeSha: headSha, mergedBy: 'grace' };
    scene.forge.set(7, { state: 'merged', closedAt, ...merge });
    scene.forge.set(8, { state: 'closed', closedAt });
    await scene.pass(env, 'start');
    expect(await scene.pull(env, 7)).to.include({ state: 'merged', author: 'Ada', ...merge });
    expect(await scene.pull(env, 8)).to.include({ state: 'closed', author: 'Ada' });
    const untilWoken = () =>
      Promise.all([7, 8].map((number) => scene.untilWoken(`promotions promotion-${number}`)));
    await untilWoken();
    scene.woken.length = 0;
    await scene.pass(env, 'webhook');
    for (const number of [7, 8])
      scene.forge.set(number, { state: 'open', closedAt: null, mergeSha: null, mergedBy: null });
    await scene.pass(env, 'webhook');
    for (const number of [7, 8])
      expect(await scene.pull(env, number)).to.include({ state: 'open', mergeSha: null });
    await untilWoken();
    expect(scene.woken.filter((one) => one.startsWith('promotions'))).to.have.length(2);
  });

  it('leaves the environment with another base, and is closed where the forge no longer has it', async () => {
    open(7);
    await scene.pass(env);
    scene.forge.set(7, { base: 'release' });
    await scene.pass(env);
    expect(await scene.pulls(env)).to.deep.equal([]);
    scene.forge.set(7, { base: 'main' });
    await scene.pass(env);
    expect(await scene.pull(env, 7)).to.include({ state: 'open' });
    scene.forge.pulls.clear();
    await scene.pass(env);
    expect(await scene.pull(env, 7)).to.include({ state: 'closed' });
  });

  it('keeps a branch that another open one needs, whatever its base', async () => {
    await bind('forge');
    const head = open(7);
    await scene.pass(env);
    const { id } = await scene.pull(env, 7);
    await scene
      .db('pull_requests')
      .where({ id })
      .update({
        ...{ subject: JSON.stringify({ promotionId: 'p', base: 'main' }), pushed_sha: head },
        binding_id: env.bindingId,
      });
    const branches = () => env.repository.git('for-each-ref', '--format=%(refname:short)', 'refs/heads');
    scene.forge.set(9, { headSha: head, branch: 'topic-7', base: 'release' });
    scene.forge.set(7, { state: 'closed', closedAt: new Date() });
    scene.later();
    await scene.pass(env);
    expect(scene.forge.count('usesBranch')).to.equal(1);
    expect(branches()).to.include('topic-7');
    await scene.db('pull_requests').where({ id }).update({ branch_settled_at: null });
    scene.forge.set(9, { state: 'closed', closedAt: new Date() });
    scene.later();
    await scene.pass(env);
    expect(branches()).not.to.include('topic-7');
  });

  it('is another one than that of the same number on another server for the same repository', async () => {
    await bind('forge');
    const headSha = open(7);
    await scene.pass(env);
    const other = await scene.environment();
    const { repositoryUrl } = await env.binding();
    await scene
      .db('git_bindings')
      .where({ environment_id: other.id })
      .update({
        ...{ repository_url: repositoryUrl, forge_url: 'https://other.example.org', forge_project: 'x/y' },
      });
    scene.forge.set(7, { state: 'merged', headSha, closedAt: new Date(0) });
    await scene.pass(other);
    expect((await scene.pull(env, 7)).state).to.equal('open');
  });

  it('is read every 30 s at most, whatever interval the binding has', async () => {
    await scene.db('git_bindings').where({ id: env.bindingId }).update({ interval_seconds: 5 });
    await scene.pass(env);
    const before = scene.forge.count('listOpen');
    scene.later(29_000);
    await scene.pass(env, 'something changed here');
    expect(scene.forge.count('listOpen')).to.equal(before);
    scene.later(2_000);
    await scene.pass(env, 'something changed here');
    expect(scene.forge.count('listOpen')).to.equal(before + 1);
  });

  it('comes by the poll where its webhook was lost, and by no earlier pass', async () => {
    await scene.pass(env);
    open(7);
    await scene.pass(env, 'something changed here');
    expect(await scene.pulls(env)).to.deep.equal([]);
    scene.later(61_000);
    await scene.pass(env, 'something changed here');
    expect(await scene.summary(env, 7)).to.equal('success: 1 changed');
  });

  it('ends as the forge has it where webhooks come twice and at once', async () => {
    const webhooks = (count: number) =>
      Promise.all(Array.from({ length: count }, () => scene.pass(env, 'webhook')));
    open(7);
    await webhooks(2);
    scene.forge.set(7, { state: 'closed', closedAt: new Date() });
    await webhooks(3);
    expect(await scene.pull(env, 7)).to.include({ state: 'closed' });
    expect(scene.forge.count('comment')).to.equal(1);
  });

  it('keeps what a user changes here while the forge is asked', async () => {
    open(7);
    await scene.pass(env);
    const { id } = await scene.pull(env, 7);
    scene.forge.set(7, { title: 'another title' });
    scene.forge.before = async (call) => {
      if (call !== 'listOpen') return;
      await scene
        .db('pull_requests')
        .where({ id })
        .update({ state: 'closed', updated_at: scene.db.raw('clock_timestamp()') });
    };
    await scene.pass(env);
    expect(await scene.pull(env, 7)).to.include({ state: 'closed', title: 'change 7' });
  });

  it('leaves out what cannot be read, with the reason at the binding', async () => {
    open(8);
    const listOpen = scene.forge.listOpen.bind(scene.forge);
    const reason = '#9 is left out: the forge answers otherwise than expected';
    scene.forge.listOpen = async (base, leftOut) => {
      leftOut?.(reason);
      return listOpen(base);
    };
    await scene.pass(env);
    expect(await scene.pull(env, 8)).to.include({ state: 'open' });
    expect(await scene.forgeErrorOf(env)).to.equal(reason);
  });

  it('warns two weeks before its token ends, and asks for that once a day', async () => {
    let asked = 0;
    const ends = new Date(scene.clock.now() + 14.5 * DAY_MS);
    scene.forge.tokenEnd = async () => {
      asked += 1;
      return ends;
    };
    await scene.pass(env);
    scene.later();
    await scene.pass(env);
    expect([asked, await scene.forgeErrorOf(env)]).to.deep.equal([1, null]);
    scene.later(DAY_MS);
    await scene.pass(env);
    expect(asked).to.equal(2);
    expect(await scene.forgeErrorOf(env)).to.include(
      `The token for GitHub ends on ${ends.toISOString().slice(0, 10)}`,
    );
  });

  it('asks by number in turn for those that are not listed', async () => {
    // Nothing to merge: they are planned at once.
    const headSha = env.repository.git('rev-parse', 'main');
    for (let number = 1; number <= 60; number += 1) scene.forge.set(number, { headSha });
    await scene.pass(env);
    scene.forge.listOpen = async () => [];
    const asked: number[] = [];
    const get = scene.forge.get.bind(scene.forge);
    scene.forge.get = (number) => {
      asked.push(number);
      return get(number);
    };
    await scene.pass(env);
    expect(asked).to.have.length(50);
    await scene.pass(env);
    expect(new Set(asked)).to.have.length(60);
    for (const pull of scene.forge.pulls.values()) pull.state = 'closed';
    for (let pass = 0; pass < 2; pass += 1) await scene.pass(env);
    expect((await scene.pulls(env)).every(({ state }) => state === 'closed')).to.equal(true);
  });

  it('stays as it was while the forge does not answer, and is asked for later and later', async () => {
    open(7);
    await scene.pass(env);
    scene.forge.before = () => {
      throw new ForgeError('unavailable', 'the forge does not answer');
    };
    await scene.pass(env);
    expect(await scene.forgeErrorOf(env)).to.equal('the forge does not answer');
    expect(await scene.pull(env, 7)).to.include({ state: 'open' });
    const calls = scene.forge.calls.length;
    await scene.pass(env, 'webhook');
    expect(scene.forge.calls).to.have.length(calls);
    scene.forge.before = () => {};
    scene.later(6_000);
    await scene.pass(env);
    expect(await scene.forgeErrorOf(env)).to.equal(null);
  });

  it('is planned on a base that was pushed by force', async () => {
    await bind('forge');
    open(7, { more: idleManifest('more') });
    await scene.pass(env);
    env.commit({ web: idleManifest('web', 'rewritten') }, { orphan: true });
    await scene.pass(env);
    expect(await scene.summary(env, 7)).to.equal('failure: has no history in common with main');
  });
});
