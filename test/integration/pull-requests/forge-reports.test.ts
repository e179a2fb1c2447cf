/** What Headgate reports to a forge about its pull requests: one comment, one status for each head, and each of them once. */
import { expect } from 'chai';
import type { StatusReport } from '../../../reconcilers/forges/forge.ts';
import { ForgeError, ForgeReply } from '../../../reconcilers/forges/forge.ts';
import { REFUSED_PAUSE_MS } from '../../../reconcilers/pull-requests/mirror/refused-writes.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';

describe('the report on a pull request to its forge', () => {
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
  const statusesOf = (head: string) => scene.forge.statuses.filter(({ sha }) => sha === head);
  /** The forge rejects these statuses. */
  function rejectStatuses(isRejected: (sha: string, report: StatusReport) => boolean, error: Error) {
    const { forge } = scene;
    const setStatus = forge.setStatus.bind(forge);
    forge.setStatus = async (sha, report) => {
      if (isRejected(sha, report)) throw error;
      await setStatus(sha, report);
    };
  }

  it('is one comment, which follows the head and the plan, and a status on each head, repeated neither by the next pass nor by another controller', async () => {
    const head = open(7);
    await scene.pass(env);
    expect(await scene.pull(env, 7)).to.include({
      ...{ forge: 'github', number: 7, state: 'open', author: 'grace', headSha: head, mergeable: 'clean' },
      ...{ bindingId: null, url: 'https://forge.example.org/pulls/7' },
    });
    expect(await scene.summary(env, 7)).to.equal('success: 1 changed');
    expect(statusesOf(head)).to.deep.equal([
      {
        ...{ sha: head, context: `headgate/${env.name}`, state: 'success', description: '1 changed' },
        url: `http://localhost/e/${env.id}/promotions/7`,
        ...{ ref: 'topic-7', number: 7 },
      },
    ]);
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    expect(scene.forge.commentsOn(7)[0])
      .to.match(new RegExp(`^<!-- headgate:plan:${env.id} -->\n### Plan for ${env.name}`))
      .and.include(`(http://localhost/e/${env.id}/promotions/7)`)
      .and.include('| change | Pipeline | `web` |');
    const writes = () => scene.forge.count('comment') + scene.forge.count('setStatus');
    const before = writes();
    await scene.pass(env);
    await scene.restart();
    await scene.pass(env);
    expect(writes()).to.equal(before);

    const second = open(7, { more: idleManifest('more') });
    await scene.pass(env);
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    expect(scene.forge.commentsOn(7)[0]).to.include('`more`');
    expect(scene.forge.statusOf(second)).to.equal('success: 1 changed, 1 created');
    scene.forge.comments.clear();
    open(7, { more: null });
    await scene.pass(env);
    expect(scene.forge.commentsOn(7), 'somebody has deleted it').to.have.length(1);
    expect(scene.forge.commentsOn(7)[0]).to.not.include('`more`');

    const comments = scene.forge.count('comment');
    await env.apply({ other: idleManifest('other') });
    await scene.pass(env);
    expect(scene.forge.count('comment')).to.equal(comments + 1);
    const made = scene.plans.length;
    await env.apply({ other: idleManifest('other', 'again') });
    await scene.pass(env);
    expect(scene.plans.length).to.be.above(made);
    expect(scene.forge.count('comment'), 'nothing of the plan has changed').to.equal(comments + 1);
  });

  it('has one comment though the controller was killed before it could record it', async () => {
    open(7);
    scene.forge.after = (call) => {
      if (call === 'comment') throw new Error('killed');
    };
    await scene.pass(env).catch(() => {});
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    scene.forge.after = () => {};
    await scene.restart();
    for (let passes = 0; passes < 2; passes += 1) {
      await scene.pass(env);
      expect(scene.forge.commentsOn(7)).to.have.length(1);
      expect(scene.forge.count('comment')).to.equal(2);
    }
  });

  describe('in a merge queue', () => {
    const branchOf = (number: number) => `gh-readonly-queue/main/pr-${number}-${'a'.repeat(40)}`;
    /** The commit of the queue itself, which only its branch names. */
    const queued = (number: number, web: string) => {
      const branch = branchOf(number);
      return { branch, number, headSha: scene.branch(env, branch, { web }) };
    };

    it('is one status on each head of the queue: also where the merged manifests would be refused, and pending while no plan can be made', async () => {
      await bind('forge');
      open(7);
      await scene.pass(env);
      const unknown = 'b'.repeat(40);
      const fine = [queued(7, idleManifest('web', 'x')), queued(8, idleManifest('web', 'y'))];
      const refused = queued(9, 'kind: Pipeline\n');
      scene.forge.groups = [...fine, refused, { branch: branchOf(10), number: 10, headSha: unknown }];
      scene.later();
      await scene.pass(env);
      for (const { headSha, number, branch } of fine)
        expect(statusesOf(headSha)).to.deep.equal([
          {
            ...{ sha: headSha, context: `headgate/${env.name}`, state: 'success', description: '1 changed' },
            ...{ url: `http://localhost/e/${env.id}/promotions/${number}`, ref: branch },
          },
        ]);
      const reported = scene.forge.statuses.length;
      for (let passes = 0; passes < 2; passes += 1) {
        scene.later();
        await scene.pass(env);
      }
      expect(scene.forge.statuses).to.have.length(reported);
      expect(scene.forge.statusOf(refused.headSha)).to.match(/^failure: /);
      expect(statusesOf(unknown).map(({ state }) => state)).to.deep.equal(['pending']);
    });
  });

  it('is not repeated by each pass while the forge rejects it, and comes afterwards', async () => {
    const head = open(7);
    scene.forge.before = (call) => {
      if (call === 'comment' || call === 'setStatus')
        throw new ForgeReply('refused', 403, 'it is archived', '');
    };
    for (let passes = 0; passes < 3; passes += 1) {
      await scene.pass(env);
      scene.later();
    }
    expect(scene.forge.count('comment')).to.equal(1);
    expect(await scene.forgeErrorOf(env)).to.include('it is archived');
    scene.forge.before = () => {};
    scene.later(REFUSED_PAUSE_MS);
    await scene.pass(env);
    expect(scene.forge.commentsOn(7)).to.have.length(1);
    expect(scene.forge.statusOf(head)).to.match(/^success/);
    expect(await scene.forgeErrorOf(env)).to.equal(null);
  });

  it('is made for others where the forge rejects the comment on one, or the status of one', async () => {
    const heads = [7, 8, 9].map((number) => open(number));
    const comment = scene.forge.comment.bind(scene.forge);
    scene.forge.comment = async (number, sticky) => {
      if (number !== 7) return comment(number, sticky);
      throw new ForgeReply('credentials', 403, 'the forge does not let the token do this (locked)', 'locked');
    };
    rejectStatuses(
      (sha) => sha === heads[1],
      new ForgeReply('refused', 422, 'the forge refuses with status 422 (sha)', 'sha'),
    );
    await scene.pass(env);
    expect([7, 8, 9].map((number) => scene.forge.commentsOn(number).length)).to.deep.equal([0, 1, 1]);
    expect(heads.map((head) => scene.forge.statusOf(head))).to.deep.equal([
      ...['success: 1 changed', null, 'success: 1 changed'],
    ]);
    expect(await scene.forgeErrorOf(env)).to.include('the forge ');
  });

  it('is made though the token may set no status on the base branch', async () => {
    rejectStatuses(
      (_, { ref }) => ref === 'main',
      new ForgeReply('credentials', 403, 'not allowed on a protected branch', ''),
    );
    await scene.pass(env);
    for (const number of [7, 8]) {
      const head = open(number);
      scene.later();
      await scene.pass(env);
      expect(scene.forge.statusOf(head), String(number)).to.match(/^success/);
    }
  });

  it('stops where the token may report nothing at all', async () => {
    for (let number = 1; number <= 5; number += 1) open(number);
    const denied = new ForgeReply('credentials', 403, 'the forge does not let the token do this', '');
    let asked = 0;
    scene.forge.setStatus = () => {
      asked += 1;
      return Promise.reject(denied);
    };
    scene.forge.comment = () => Promise.reject(denied);
    await scene.pass(env);
    // Once each while the plans are made, and a few times after.
    expect(asked).to.be.at.most(5 + 3);
    expect(await scene.forgeErrorOf(env)).to.equal(denied.message);
  });

  it('is a conflict, without a plan, where the branch conflicts with its base', async () => {
    const head = open(7, { web: idleManifest('web', 'theirs') });
    await env.apply({ web: idleManifest('web', 'ours') });
    await scene.pass(env);
    expect(scene.forge.statusOf(head)).to.equal('failure: conflicts with main in 1 file');
    const { mergeable, conflicts } = await scene.pull(env, 7);
    expect([mergeable, conflicts.length]).to.deep.equal(['conflict', 1]);
    expect(scene.forge.commentsOn(7)[0]).to.include(
      `\`\`\`text\n${env.name}: conflicts with main in 1 file\n\`\`\``,
    );
  });

  it('has a reason instead of a plan where the branch is of another repository', async () => {
    await bind('forge');
    const head = open(7);
    scene.forge.set(7, { isFork: true, branch: 'main' });
    env.repository.git('update-ref', 'refs/pull/7/head', head);
    env.repository.git('update-ref', '-d', 'refs/heads/topic-7');
    await scene.pass(env);
    expect(await scene.summary(env, 7)).to.equal('success: 1 manifest read; no plan for a fork');
    expect(scene.forge.commentsOn(7)[0]).to.include('another repository').and.not.include('Plan for');
    expect(scene.plans).to.deep.equal([]);
  });

  it('is pending first where the plan takes its time', async () => {
    const head = open(7);
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beforePlan = async () => {
      scene.later(3_000);
      await promise;
    };
    scene.forge.after = (call) => {
      if (call === 'setStatus') resolve();
    };
    await scene.pass(env);
    expect(statusesOf(head).map(({ state }) => state)).to.deep.equal(['pending', 'success']);
    expect(scene.forge.count('comment')).to.equal(1);
  });

  it('waits in this environment alone while the forge limits the rate, and the binding has the reason', async () => {
    await bind('forge');
    const other = await scene.environment();
    await other.apply({ web: idleManifest('web') });
    const head = open(7);
    const retryAt = new Date(scene.clock.now() + 10 * 60_000);
    let limited = true;
    scene.forge.before = (call) => {
      if (!limited || call !== 'setStatus') return;
      limited = false;
      throw new ForgeError('rate-limited', 'GitHub was asked too often', retryAt);
    };
    await scene.pass(env);
    expect(await scene.forgeErrorOf(env)).to.equal('GitHub was asked too often');
    expect(await scene.summary(env, 7), 'it is planned all the same').to.equal('success: 1 changed');
    const calls = scene.forge.calls.length;
    scene.later(5 * 60_000);
    await scene.pass(env, 'webhook');
    expect(scene.forge.calls).to.have.length(calls);
    await scene.pass(other);
    expect(scene.forge.calls.length).to.be.above(calls);
    scene.later(6 * 60_000);
    await scene.pass(env);
    expect(scene.forge.statusOf(head)).to.equal('success: 1 changed');
    expect(await scene.forgeErrorOf(env)).to.equal(null);
  });

  it('comes from one of two controllers', async () => {
    const head = open(7);
    const [first, second] = [await scene.controller(env), await scene.controller(env)];
    await Promise.all([first, second].map(({ reconciler }) => reconciler.reconcile(env.id, 'webhook')));
    expect(scene.forge.count('comment')).to.equal(1);
    expect(statusesOf(head)).to.have.length(1);
  });

  it('comes from each of two environments that share the repository, and the first pass wakes the other', async () => {
    await bind('forge');
    const other = await scene.environment();
    const { repositoryUrl } = await env.binding();
    await scene.db('git_bindings').where({ id: other.bindingId }).update({ repository_url: repositoryUrl });
    const head = open(7);
    await scene.pass(env);
    await scene.untilWoken(`pull-requests ${other.id}`);
    await scene.pass(other);
    const contexts = statusesOf(head).map(({ context }) => context);
    expect(contexts).to.have.members([`headgate/${env.name}`, `headgate/${other.name}`]);
    expect(scene.forge.commentsOn(7)).to.have.length(2);
  });
});
