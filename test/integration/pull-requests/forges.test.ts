/** Pull requests that live on a forge: what the forge says now is what is kept, and what is made of it is told once. */
import { expect } from 'chai';
import { findBinding } from '../../../controller/delivery/bindings/index.ts';
import { mirrorPullRequest } from '../../../controller/delivery/pull-requests/index.ts';
import { ForgeError, ForgeReply } from '../../../reconcilers/forges/forge.ts';
import { REFUSED_PAUSE_MS } from '../../../reconcilers/pull-requests/mirror/refused-writes.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';
import type { BoundEnvironment } from '../../support/scenes/reconcile.ts';

describe('a pull request on a forge', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  beforeEach(async () => {
    scene = await PullRequestScene.open();
    env = await scene.environment();
    await env.apply({ web: idleManifest('web') });
  });
  afterEach(() => scene.close());

  /** Somebody opens one there. */
  function open(
    number: number,
    files: Record<string, string | null> = { web: idleManifest('web', 'x') },
  ): string {
    const headSha = scene.branch(env, `topic-${number}`, files);
    scene.forge.set(number, { headSha });
    return headSha;
  }
  const later = (ms = 31_000) => scene.clock.advance(ms);
  const trouble = async () => (await findBinding(scene.db, env.id))?.forgeError?.message ?? null;

  it('is mirrored, planned and told by one comment and a status on its head', async () => {
    const head = open(7);
    await scene.look(env);
    expect(await scene.pull(env, 7)).to.include({
      ...{ forge: 'github', number: 7, state: 'open', author: 'grace', headSha: head, mergeable: 'clean' },
      ...{ bindingId: null, url: 'https://forge.example.org/pulls/7' },
    });
    expect(await scene.said(env, 7)).to.equal('success: 1 changed');
    expect(scene.forge.statuses.filter(({ sha }) => sha === head)).to.deep.equal([
      {
        ...{ sha: head, context: 'headgate/env-1', state: 'success', description: '1 changed' },
        url: `http://localhost/e/${env.id}/promotions/7`,
        ...{ ref: 'topic-7', number: 7 },
      },
    ]);
    const [comment, ...more] = scene.forge.commentsOn(7);
    expect(more).to.deep.equal([]);
    expect(comment).to.match(new RegExp(`^<!-- headgate:plan:${env.id} -->\n### Plan for env`));
    expect(comment)
      .to.include(`(http://localhost/e/${env.id}/promotions/7)`)
      .and.include('| change | Pipeline | `web` |');
  });

  it('is told nothing twice, also not by a controller that has just begun', async () => {
    open(7);
    await scene.look(env);
    const told = scene.forge.count('comment') + scene.forge.count('setStatus');
    await scene.look(env);
    await scene.restart();
    await scene.look(env);
    expect(scene.forge.count('comment') + scene.forge.count('setStatus')).to.equal(told);
  });

  it('has its comment brought up to date, and written again where somebody deleted it', async () => {
    open(7);
    await scene.look(env);
    const second = open(7, { more: idleManifest('more') });
    await scene.look(env);
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    expect(scene.forge.commentsOn(7)[0]).to.include('`more`');
    expect(scene.forge.statusOf(second)).to.equal('success: 1 changed, 1 created');
    scene.forge.comments.clear();
    open(7, { more: null });
    await scene.look(env);
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    expect(scene.forge.commentsOn(7)[0]).to.not.include('`more`');
  });

  it('keeps its comment as it is where another base changes nothing of the plan', async () => {
    open(7);
    await scene.look(env);
    await env.apply({ other: idleManifest('other') });
    await scene.look(env);
    const made = scene.plans.length;
    expect(scene.forge.count('comment')).to.equal(2);
    await env.apply({ other: idleManifest('other', 'again') });
    await scene.look(env);
    expect(scene.plans.length).to.be.above(made);
    expect(scene.forge.count('comment'), 'the same words').to.equal(2);
  });

  it('gets no second comment where the controller was killed between telling and noting it', async () => {
    open(7);
    scene.forge.after = (call) => {
      if (call === 'comment') throw new Error('killed');
    };
    await scene.look(env).catch(() => {});
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    scene.forge.after = () => {};
    await scene.restart();
    await scene.look(env);
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    expect(scene.forge.count('comment')).to.equal(2);
    await scene.look(env);
    expect(scene.forge.count('comment')).to.equal(2);
  });

  it('has its check and plan as part of a merge queue too, once for each head', async () => {
    const head = open(7);
    await scene.look(env);
    // The queue's own commit, of which nobody knows but by its branch.
    const queued = (number: number, description: string) => {
      const branch = `gh-readonly-queue/main/pr-${number}-${head}`;
      return {
        branch,
        number,
        headSha: scene.branch(env, branch, { web: idleManifest('web', description) }),
      };
    };
    scene.forge.groups = [queued(7, 'x'), queued(8, 'y')];
    later();
    await scene.look(env);
    const [first, second] = scene.forge.groups;
    for (const { headSha, number, branch } of [first, second].filter((one) => one !== undefined))
      expect(scene.forge.statuses.filter(({ sha }) => sha === headSha)).to.deep.equal([
        {
          ...{ sha: headSha, context: 'headgate/env-1', state: 'success', description: '1 changed' },
          ...{ url: `http://localhost/e/${env.id}/promotions/${number}`, ref: branch },
        },
      ]);
    const told = scene.forge.statuses.length;
    later();
    await scene.look(env);
    expect(scene.forge.statuses).to.have.length(told);
  });

  it('holds a merge queue up where what it would merge is refused', async () => {
    open(7);
    const branch = `gh-readonly-queue/main/pr-7-${'a'.repeat(40)}`;
    const headSha = scene.branch(env, branch, { web: 'kind: Pipeline\n' });
    scene.forge.groups = [{ branch, number: 7, headSha }];
    await scene.look(env);
    expect(scene.forge.statusOf(headSha)).to.match(/^failure: /);
  });

  it('waits in a merge queue while no plan can be made, and is not thrown out of it', async () => {
    open(7);
    const branch = `gh-readonly-queue/main/pr-7-${'a'.repeat(40)}`;
    const headSha = 'b'.repeat(40);
    scene.forge.groups = [{ branch, number: 7, headSha }];
    for (let passes = 0; passes < 3; passes += 1) {
      await scene.look(env);
      later();
    }
    const told = scene.forge.statuses.filter(({ sha }) => sha === headSha).map(({ state }) => state);
    expect(told).to.deep.equal(['pending']);
  });

  for (const [what, message, calls] of [
    ['a conversation that was locked', 'GitHub has locked this conversation', ['comment']],
    ['a project that was archived', 'GitHub has archived the project', ['comment', 'setStatus']],
  ] as const)
    it(`is told of ${what} once it is not any more, and is not asked for it with each pass`, async () => {
      const head = open(7);
      scene.forge.before = (call) => {
        if (calls.some((one) => one === call)) throw new ForgeReply('refused', 403, message, '');
      };
      for (let passes = 0; passes < 3; passes += 1) {
        await scene.look(env);
        later();
      }
      expect(scene.forge.count('comment')).to.equal(1);
      expect(await trouble()).to.include(message);
      scene.forge.before = () => {};
      scene.clock.advance(REFUSED_PAUSE_MS);
      await scene.look(env);
      expect(scene.forge.commentsOn(7)).to.have.length(1);
      expect(scene.forge.statusOf(head)).to.match(/^success/);
      expect(await trouble()).to.equal(null);
    });

  it('is told of its plan though the token may set no status on the branch that it goes into', async () => {
    scene.forge.before = () => {};
    const setStatus = scene.forge.setStatus.bind(scene.forge);
    scene.forge.setStatus = (sha, report) =>
      report.ref === 'main'
        ? Promise.reject(new ForgeReply('credentials', 403, 'not allowed on a protected branch', ''))
        : setStatus(sha, report);
    await scene.look(env);
    for (const number of [7, 8, 9]) {
      const head = open(number);
      later();
      await scene.look(env);
      expect(scene.forge.statusOf(head), String(number)).to.match(/^success/);
    }
  });

  it('leaves a branch behind that another open one needs, against a base that nobody is bound to', async () => {
    const head = open(7);
    await scene.look(env);
    const { id } = await scene.pull(env, 7);
    const binding = await findBinding(scene.db, env.id);
    await scene
      .db('pull_requests')
      .where({ id })
      .update({
        subject: JSON.stringify({ promotionId: 'p', base: 'main' }),
        pushed_sha: head,
        binding_id: binding?.id,
      });
    const branches = () => env.repository.git('for-each-ref', '--format=%(refname:short)', 'refs/heads');
    scene.forge.set(9, { headSha: head, branch: 'topic-7', base: 'release' });
    scene.forge.set(7, { state: 'closed', closedAt: new Date() });
    later();
    await scene.look(env);
    expect(scene.forge.count('usesBranch')).to.equal(1);
    expect(branches()).to.include('topic-7');
    await scene.db('pull_requests').where({ id }).update({ branch_settled_at: null });
    scene.forge.set(9, { state: 'closed', closedAt: new Date() });
    later();
    await scene.look(env);
    expect(branches()).not.to.include('topic-7');
  });

  it('that conflicts says so on the forge, without a plan', async () => {
    const head = open(7, { web: idleManifest('web', 'theirs') });
    await env.apply({ web: idleManifest('web', 'ours') });
    await scene.look(env);
    expect(scene.forge.statusOf(head)).to.equal('failure: conflicts with main in 1 file');
    expect(await scene.pull(env, 7)).to.deep.include({ mergeable: 'conflict' });
    expect((await scene.pull(env, 7)).conflicts).to.have.length(1);
    expect(scene.forge.commentsOn(7)[0]).to.include('```text\nenv-1: conflicts with main in 1 file\n```');
  });

  it('of another repository gets no plan, and a comment that tells why', async () => {
    const head = open(7);
    scene.forge.set(7, { isFork: true, branch: 'main' });
    env.repository.git('update-ref', 'refs/pull/7/head', head);
    env.repository.git('update-ref', '-d', 'refs/heads/topic-7');
    await scene.look(env);
    expect(await scene.said(env, 7)).to.equal('success: 1 manifest read; no plan for a fork');
    expect(scene.forge.commentsOn(7)[0]).to.include('another repository').and.not.include('Plan for');
    expect(scene.plans).to.deep.equal([]);
  });

  it('is told to be on the way where the plan takes its time', async () => {
    const head = open(7);
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beforePlan = async () => {
      scene.clock.advance(3_000);
      await promise;
    };
    scene.forge.after = (call) => {
      if (call === 'setStatus') resolve();
    };
    await scene.look(env);
    expect(scene.forge.statuses.filter(({ sha }) => sha === head).map(({ state }) => state)).to.deep.equal([
      'pending',
      'success',
    ]);
    expect(scene.forge.statusOf(head)).to.equal('success: 1 changed');
    expect(scene.forge.count('comment')).to.equal(1);
  });

  it('is another one than that of the same number on another server, which somebody names for the same address', async () => {
    const headSha = open(7);
    await scene.look(env);
    const other = await scene.environment();
    const { repositoryUrl } = await env.binding();
    const bound = {
      repository_url: repositoryUrl,
      forge_url: 'https://other.example.org',
      forge_project: 'x/y',
    };
    await scene.db('git_bindings').where({ environment_id: other.id }).update(bound);
    scene.forge.set(7, { state: 'merged', headSha, closedAt: new Date(0) });
    await scene.look(other);
    expect((await scene.pull(env, 7)).state).to.equal('open');
  });

  for (const state of ['merged', 'closed'] as const)
    it(`that was ${state} while nobody looked is found by the next start, and its promotion is woken`, async () => {
      const headSha = open(7);
      await scene.look(env);
      const { repositoryUrl: repository } = await env.binding();
      await mirrorPullRequest(scene.db, {
        ...scene.forge.set(7, {}),
        ...{ repository, forge: 'github', project: '' },
        ...{ subject: { promotionId: 'promotion-1' }, bindingId: env.bindingId },
        ...{ author: 'Ada', updatedAt: undefined },
      } as never);
      await scene.restart();
      const closedAt = new Date(1_700_000_000_000);
      scene.forge.set(7, {
        state,
        closedAt,
        ...(state === 'merged' ? { mergeSha: headSha, mergedBy: 'grace' } : {}),
      });
      await scene.look(env, 'start');
      const pull = await scene.pull(env, 7);
      expect(pull).to.include({ state, author: 'Ada' });
      if (state === 'merged') expect(pull).to.include({ mergeSha: headSha, mergedBy: 'grace' });
      await scene.untilWoken('promotions promotion-1');
      scene.woken.length = 0;
      await scene.look(env, 'webhook');
      scene.forge.set(7, { state: 'open', closedAt: null, mergeSha: null, mergedBy: null });
      await scene.look(env, 'webhook');
      expect(await scene.pull(env, 7)).to.include({ state: 'open', mergeSha: null });
      await scene.untilWoken('promotions promotion-1');
      expect(scene.woken.filter((one) => one.startsWith('promotions'))).to.have.length(1);
    });

  it('that is retargeted leaves the branch, and is another’s from then on', async () => {
    open(7);
    await scene.look(env);
    scene.forge.set(7, { base: 'release' });
    await scene.look(env);
    expect(await scene.pulls(env)).to.deep.equal([]);
    scene.forge.set(7, { base: 'main' });
    await scene.look(env);
    expect(await scene.pull(env, 7)).to.include({ state: 'open' });
  });

  it('that the forge knows no longer is closed', async () => {
    open(7);
    await scene.look(env);
    scene.forge.pulls.clear();
    await scene.look(env);
    expect(await scene.pull(env, 7)).to.include({ state: 'closed' });
  });

  it('is found by the poll where its webhook was lost, and by nothing else before', async () => {
    await scene.look(env);
    open(7);
    await scene.look(env, 'something changed here');
    expect(await scene.pulls(env)).to.deep.equal([]);
    later(61_000);
    await scene.look(env, 'something changed here');
    expect(await scene.said(env, 7)).to.equal('success: 1 changed');
  });

  it('of which webhooks come twice and out of order ends as the forge has it', async () => {
    open(7);
    await Promise.all([scene.look(env, 'webhook'), scene.look(env, 'webhook')]);
    scene.forge.set(7, { state: 'closed', closedAt: new Date() });
    await Promise.all([scene.look(env, 'webhook'), scene.look(env, 'webhook'), scene.look(env, 'webhook')]);
    expect(await scene.pull(env, 7)).to.include({ state: 'closed' });
    expect(scene.forge.count('comment')).to.equal(1);
  });

  it('that people change here while the forge is asked stays as they left it', async () => {
    open(7);
    await scene.look(env);
    const { id } = await scene.pull(env, 7);
    scene.forge.set(7, { title: 'another title' });
    scene.forge.before = async (call) => {
      if (call !== 'listOpen') return;
      await scene
        .db('pull_requests')
        .where({ id })
        .update({ state: 'closed', updated_at: scene.db.raw('clock_timestamp()') });
    };
    await scene.look(env);
    expect(await scene.pull(env, 7)).to.include({ state: 'closed', title: 'change 7' });
  });

  it('whose comment the forge does not take, since it is locked there, holds up no other', async () => {
    for (const number of [7, 8, 9]) open(number);
    const comment = scene.forge.comment.bind(scene.forge);
    scene.forge.comment = async (number, sticky) => {
      if (number !== 7) return comment(number, sticky);
      throw new ForgeReply('credentials', 403, 'the forge does not let the token do this (locked)', 'locked');
    };
    await scene.look(env);
    expect([7, 8, 9].map((number) => scene.forge.commentsOn(number).length)).to.deep.equal([0, 1, 1]);
    expect(await trouble()).to.include('does not let the token do this (locked)');
    // It is told once it is taken.
    scene.forge.comment = comment;
    later(REFUSED_PAUSE_MS);
    await scene.look(env, 'timer');
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    expect(await trouble()).to.equal(null);
  });

  it('whose commit takes no status is planned all the same, and so are the others', async () => {
    const heads = [7, 8].map((number) => open(number));
    const setStatus = scene.forge.setStatus.bind(scene.forge);
    scene.forge.setStatus = async (sha, report) => {
      if (sha !== heads[0]) return setStatus(sha, report);
      throw new ForgeReply('refused', 422, 'the forge refuses with status 422 (sha)', 'sha');
    };
    await scene.look(env);
    expect(scene.forge.statusOf(heads[1] ?? '')).to.equal('success: 1 changed');
    expect([7, 8].map((number) => scene.forge.commentsOn(number).length)).to.deep.equal([1, 1]);
  });

  it('stops asking where the token may tell nothing at all', async () => {
    for (let number = 1; number <= 8; number += 1) open(number);
    let asked = 0;
    scene.forge.setStatus = async () => {
      asked += 1;
      throw new ForgeReply('credentials', 403, 'the forge does not let the token do this', '');
    };
    scene.forge.comment = async () => {
      throw new ForgeReply('credentials', 403, 'the forge does not let the token do this', '');
    };
    await scene.look(env);
    // Once each while the plans are made, and a few times after.
    expect(asked).to.be.at.most(8 + 3);
    expect(await trouble()).to.equal('the forge does not let the token do this');
  });

  it('that cannot be read is named with the binding, and the others are mirrored', async () => {
    for (const number of [7, 8]) open(number);
    const listOpen = scene.forge.listOpen.bind(scene.forge);
    scene.forge.listOpen = async (base, leftOut) => {
      leftOut?.('#9 is left out: the forge answers otherwise than expected');
      return listOpen(base);
    };
    await scene.look(env);
    expect(await scene.pull(env, 8)).to.include({ state: 'open' });
    expect(await trouble()).to.equal('#9 is left out: the forge answers otherwise than expected');
  });

  it('warns two weeks before its token ends, and is asked for that once a day', async () => {
    const day = 86_400_000;
    let asked = 0;
    const ends = new Date(scene.clock.now() + 14.5 * day);
    scene.forge.tokenEnd = () => {
      asked += 1;
      return Promise.resolve(ends);
    };
    await scene.look(env);
    later();
    await scene.look(env);
    expect([asked, await trouble()]).to.deep.equal([1, null]);
    later(day);
    await scene.look(env);
    expect(asked).to.equal(2);
    expect(await trouble()).to.equal(
      `The token for GitHub ends on ${ends.toISOString().slice(0, 10)}: make another one there, and give it as forge.token`,
    );
  });

  it('is asked for by number in turn where many are not listed', async () => {
    for (let number = 1; number <= 60; number += 1) scene.forge.set(number, { headSha: 'a'.repeat(40) });
    await scene.look(env);
    scene.forge.listOpen = async () => [];
    const asked: number[] = [];
    const get = scene.forge.get.bind(scene.forge);
    scene.forge.get = (number) => {
      asked.push(number);
      return get(number);
    };
    await scene.look(env);
    expect(asked).to.have.length(50);
    await scene.look(env);
    expect(new Set(asked)).to.have.length(60);
    for (const pull of scene.forge.pulls.values()) pull.state = 'closed';
    for (let pass = 0; pass < 2; pass += 1) await scene.look(env);
    expect((await scene.pulls(env)).every(({ state }) => state === 'closed')).to.equal(true);
  });

  it('waits where the forge is asked too often, alone; the status page says why, until it goes on', async () => {
    const other = await scene.environment();
    await other.apply({ web: idleManifest('web') });
    const head = open(7);
    const retryAt = new Date(scene.clock.now() + 10 * 60_000);
    let limited = true;
    scene.forge.before = (call) => {
      if (limited && call === 'setStatus') {
        limited = false;
        throw new ForgeError(
          'rate-limited',
          'GitHub was asked too often; it is asked again at 12:00',
          retryAt,
        );
      }
    };
    await scene.look(env);
    expect(await trouble()).to.equal('GitHub was asked too often; it is asked again at 12:00');
    expect(await scene.said(env, 7), 'it is planned all the same').to.equal('success: 1 changed');
    const calls = scene.forge.calls.length;
    later(5 * 60_000);
    await scene.look(env, 'webhook');
    expect(scene.forge.calls).to.have.length(calls);
    await scene.look(other);
    expect(scene.forge.calls.length).to.be.above(calls);
    later(6 * 60_000);
    await scene.look(env);
    expect(scene.forge.statusOf(head)).to.equal('success: 1 changed');
    expect(await trouble()).to.equal(null);
  });

  it('stays as it was where the forge does not answer, and is looked at again later and later', async () => {
    open(7);
    await scene.look(env);
    scene.forge.before = () => {
      throw new ForgeError('unavailable', 'the forge does not answer');
    };
    await scene.look(env);
    expect(await trouble()).to.equal('the forge does not answer');
    expect(await scene.pull(env, 7)).to.include({ state: 'open' });
    const calls = scene.forge.calls.length;
    await scene.look(env, 'webhook');
    expect(scene.forge.calls).to.have.length(calls);
    scene.forge.before = () => {};
    later(6_000);
    await scene.look(env);
    expect(await trouble()).to.equal(null);
  });

  it('of which the forge takes no comment is not asked again about it', async () => {
    open(7);
    scene.forge.before = (call) => {
      if (call === 'comment') throw new ForgeError('refused', 'the conversation is locked');
    };
    await scene.look(env);
    await scene.look(env);
    expect(scene.forge.count('comment')).to.equal(1);
    expect(await trouble()).to.equal('the conversation is locked');
  });

  it('is told by one of two controllers', async () => {
    const head = open(7);
    const [first, second] = [await scene.controller(), await scene.controller()];
    await Promise.all([first.reconciler.look(env.id, 'webhook'), second.reconciler.look(env.id, 'webhook')]);
    expect(scene.forge.count('comment')).to.equal(1);
    expect(scene.forge.statuses.filter(({ sha }) => sha === head)).to.have.length(1);
  });

  it('of a repository that two environments share is told by each for itself, and wakes the other', async () => {
    const other = await scene.environment();
    const { repositoryUrl } = await env.binding();
    await scene.db('git_bindings').where({ id: other.bindingId }).update({ repository_url: repositoryUrl });
    const head = open(7);
    await scene.look(env);
    await scene.untilWoken(`pull-requests ${other.id}`);
    await scene.look(other);
    expect(
      scene.forge.statuses
        .filter(({ sha }) => sha === head)
        .map(({ context }) => context)
        .sort(),
    ).to.deep.equal(['headgate/env-1', 'headgate/env-2']);
    expect(scene.forge.commentsOn(7)).to.have.length(2);
  });

  it('of a base that was pushed to by force is planned on what is there now', async () => {
    open(7, { more: idleManifest('more') });
    await scene.look(env);
    env.commit({ web: idleManifest('web', 'rewritten') }, { orphan: true });
    await scene.look(env);
    expect(await scene.said(env, 7)).to.equal('failure: has no history in common with main');
  });
});
