/** A plan on every pull request: of the merge, made again where anything is another, and only there. */
import { expect } from 'chai';
import {
  clearOldPlans,
  insertPullRequest,
  updatePullRequest,
} from '../../../controller/delivery/pull-requests/index.ts';
import { preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';
import { type BoundEnvironment, pathOf } from '../../support/scenes/reconcile.ts';

/** Several times as many as one pass plans. */
const MANY = 40;

describe('the check of a pull request that is kept here', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  beforeEach(async () => {
    scene = await PullRequestScene.open();
    env = await scene.environment('here');
    await env.apply({ web: idleManifest('web'), edge: idleManifest('edge') });
  });
  afterEach(() => scene.close());

  const node = (id: string) =>
    scene.db('nodes').insert({
      ...{ id: `${env.id}-${id}`, environment_id: env.id, name: id, host: `${id}.example.org` },
      token_hash: `${env.id}-${id}`,
    });

  it('is the plan of the merge: what changes, and on how many nodes', async () => {
    for (const id of ['a', 'b', 'c']) await node(id);
    const head = scene.branch(env, 'topic', { web: idleManifest('web', 'x'), new: idleManifest('new') });
    await scene.openHere(env, 'topic', head);
    await scene.look(env);
    const check = await scene.check(env);
    expect(check).to.include({ state: 'success', headSha: head, reason: null });
    expect(check.summary).to.match(/^1 changed, 1 created; 3 nodes (restart|start)/);
    expect(check.plan?.counts).to.include({ create: 1, update: 1, unchanged: 1, delete: 0 });
    expect(check.plan).to.include({ commit: null, environmentId: env.id });
    expect(check.baseSha).to.equal(env.repository.git('rev-parse', 'main'));
    expect(env.repository.git('for-each-ref')).to.not.include('headgate');
  });

  it('is made once: another look at the same changes nothing', async () => {
    await scene.openHere(env, 'topic', scene.branch(env, 'topic', { web: idleManifest('web', 'x') }));
    await scene.look(env);
    const before = await scene.check(env);
    await scene.look(env);
    await scene.restart();
    await scene.look(env);
    expect(scene.plans).to.have.length(1);
    expect(await scene.check(env)).to.deep.equal(before);
  });

  it('is made anew after a push to the branch, and after one to the base', async () => {
    const pull = await scene.openHere(
      env,
      'topic',
      scene.branch(env, 'topic', { web: idleManifest('web', 'x') }),
    );
    await scene.look(env);
    const head = await scene.push(env, pull, { more: idleManifest('more') });
    await scene.look(env);
    expect(await scene.check(env)).to.include({ headSha: head, summary: '1 changed, 1 created' });
    await env.apply({ other: idleManifest('other') });
    await scene.look(env);
    const base = env.repository.git('rev-parse', 'main');
    expect(await scene.check(env)).to.include({ baseSha: base, summary: '1 changed, 1 created' });
    const made = scene.plans.length;
    await scene.look(env);
    expect(scene.plans).to.have.length(made);
    const ahead = env.commit({ ahead: idleManifest('ahead') });
    await scene.look(env);
    expect(await scene.check(env)).to.include({ baseSha: ahead, summary: '1 changed, 2 created' });
  });

  it('names the files in which both ends do not go together, until they do', async () => {
    const head = scene.branch(env, 'topic', { web: idleManifest('web', 'theirs') });
    const pull = await scene.openHere(env, 'topic', head);
    await env.apply({ web: idleManifest('web', 'ours') });
    await scene.look(env);
    expect(await scene.said(env)).to.equal('failure: conflicts with main in 1 file');
    expect((await scene.check(env)).reason).to.include(pathOf('web'));
    expect((await scene.check(env)).plan).to.equal(null);
    await scene.push(env, pull, { web: idleManifest('web', 'ours') });
    await scene.look(env);
    expect(await scene.said(env)).to.equal('success: all of it is in main already');
  });

  it('fails where a manifest would be refused, and tells which', async () => {
    const broken = idleManifest('web').replace('inputs: [ticks]', 'inputs: [tocks]');
    await scene.openHere(env, 'topic', scene.branch(env, 'topic', { web: broken }));
    await scene.look(env);
    expect(await scene.said(env)).to.match(/^failure: 1 manifest refused: web: input "tocks" of "discard"/);
    expect((await scene.check(env)).plan?.counts.refuse).to.equal(1);
  });

  it('fails where a file cannot be read, where a test fails, and where a secret is missing', async () => {
    const asking = idleManifest('web').replace(
      'interval: 1',
      'interval: 1, token: "$' + '{SVC_SECRET_TOKEN}"',
    );
    await scene.openHere(env, 'a', scene.branch(env, 'a', { web: 'a: [' }));
    await scene.openHere(env, 'b', scene.branch(env, 'b', { web: asking }));
    await scene.look(env);
    expect(await scene.said(env, 1)).to.match(/^failure: /);
    expect(await scene.said(env, 2)).to.match(/^failure: 1 manifest refused: web: the secret behind/);
    await scene.db('secrets').insert({
      ...{ id: 'secret-1', environment_id: env.id, name: 'token' },
      ...{ variable: 'SVC_SECRET_TOKEN', sealed_value: 'sealed' },
    });
    await scene.look(env);
    expect(await scene.said(env, 2)).to.equal('success: 1 changed');
    expect(scene.plans).to.have.length(4);
  });

  it('holds against nobody what the base has already, and tells it', async () => {
    const broken = idleManifest('web').replace('inputs: [ticks]', 'inputs: [tocks]');
    env.commit({ web: broken, edge: 'a: [' });
    await env.pass();
    await scene.openHere(env, 'a', scene.branch(env, 'a', { new: idleManifest('new') }));
    const worse = broken.replace('inputs: [tocks]', 'inputs: [clocks]');
    await scene.openHere(env, 'b', scene.branch(env, 'b', { web: worse }));
    await scene.look(env);
    expect(await scene.said(env, 1)).to.equal('success: 1 created; 2 faults from before');
    expect(await scene.said(env, 2)).to.match(/^failure: 1 manifest refused: web: input "clocks"/);
  });

  it('says that what is over the guards waits for an ADMIN', async () => {
    await env.allow({ maxDeletes: 1 });
    const gone = scene.branch(env, 'topic', { web: null, edge: null, rest: idleManifest('rest') });
    await scene.openHere(env, 'topic', gone);
    await scene.look(env);
    expect(await scene.said(env)).to.equal(
      'failure: over the guards: waits for an ADMIN after the merge (maxDeletes)',
    );
  });

  it('says that a path which would be gone is over the guards as well', async () => {
    await scene.openHere(env, 'topic', scene.branch(env, 'topic', { web: null, edge: null }));
    await scene.look(env);
    expect(await scene.said(env)).to.match(/^failure: /);
  });

  it('tells a fault, and tries again after a while, or at once when anything is another', async () => {
    const pull = await scene.openHere(
      env,
      'topic',
      scene.branch(env, 'topic', { web: idleManifest('web', 'x') }),
    );
    let faults = 3;
    scene.beforePlan = () => {
      faults -= 1;
      if (faults >= 0) throw preconditionFailed('the disk is on fire');
    };
    await scene.look(env);
    expect(await scene.said(env)).to.equal('error: no plan: the disk is on fire');
    expect((await scene.check(env)).reason).to.include('tried again');
    await scene.look(env);
    expect(scene.plans, 'not at once').to.have.length(1);
    scene.clock.advance(6_000);
    await scene.look(env);
    expect(scene.plans).to.have.length(2);
    await scene.push(env, pull, { web: idleManifest('web', 'y') });
    await scene.look(env);
    expect(scene.plans).to.have.length(3);
    scene.clock.advance(6_000);
    await scene.look(env);
    expect(await scene.said(env)).to.equal('success: 1 changed');
  });

  it('does not let one that cannot be planned keep others from being planned', async () => {
    const unknown = 'f'.repeat(40);
    await scene.openHere(env, 'gone', unknown);
    await scene.openHere(env, 'topic', scene.branch(env, 'topic', { web: idleManifest('web', 'x') }));
    await scene.look(env);
    expect(await scene.said(env, 1)).to.match(
      /^error: no plan: the repository has no commit fffffff on "gone"/,
    );
    expect(await scene.said(env, 2)).to.equal('success: 1 changed');
  });

  it('is not made of one that is closed, and not of a head that was pushed over meanwhile', async () => {
    const pull = await scene.openHere(
      env,
      'topic',
      scene.branch(env, 'topic', { web: idleManifest('web', 'x') }),
    );
    scene.beforePlan = async () => {
      scene.beforePlan = () => {};
      await scene.push(env, pull, { more: idleManifest('more') });
    };
    await scene.look(env);
    expect(await scene.check(env)).to.include({ state: 'pending', computedAt: null, plan: null });
    await scene.look(env);
    expect(await scene.said(env)).to.equal('success: 1 changed, 1 created');
    await scene.push(env, pull, { more: null });
    await updatePullRequest(scene.db, pull.id, { state: 'closed' });
    await scene.look(env);
    expect(await scene.said(env)).to.equal('success: 1 changed, 1 created');
  });

  it('is made anew for one that is reopened after its plan was removed', async () => {
    const head = scene.branch(env, 'topic', { web: idleManifest('web', 'x') });
    const { id } = await scene.openHere(env, 'topic', head);
    await scene.look(env);
    const { plan } = await scene.check(env);
    await updatePullRequest(scene.db, id, { state: 'closed' });
    const gone = { closedBefore: new Date(Date.now() + 60_000), reason: 'The plan was removed' };
    expect(await clearOldPlans(scene.db, gone, 100)).to.equal(1);
    expect(await scene.check(env)).to.include({ plan: null, reason: 'The plan was removed' });
    await updatePullRequest(scene.db, id, { state: 'open' });
    await scene.look(env);
    const check = await scene.check(env);
    expect(check).to.include({ state: 'success', reason: null, headSha: head });
    expect(check.plan?.counts).to.deep.equal(plan?.counts);
  });

  it('tells only what the tree says of one from another repository', async () => {
    const asking = idleManifest('web').replace(
      'interval: 1',
      'interval: 1, token: "$' + '{SVC_SECRET_TOKEN}"',
    );
    const files = { web: asking, edge: `${idleManifest('edge')}  dependsOn: [hidden]\n` };
    const good = await scene.openHere(env, 'good', scene.branch(env, 'good', files));
    const bad = idleManifest('web').replace('inputs: [ticks]', 'inputs: [tocks]');
    const wrong = await scene.openHere(env, 'wrong', scene.branch(env, 'wrong', { web: bad }));
    const self = `${idleManifest('web')}  dependsOn: [web]\n`;
    const round = await scene.openHere(env, 'round', scene.branch(env, 'round', { web: self }));
    await scene.db('pull_requests').whereIn('id', [good.id, wrong.id, round.id]).update({ is_fork: true });
    await scene.look(env);
    const check = await scene.check(env, 1);
    expect(check).to.include({
      state: 'success',
      summary: '2 manifests read; no plan for a fork',
      plan: null,
    });
    expect(check.reason).to.include('Checked: parse, schema').and.include('1 name not in the tree');
    expect(JSON.stringify(check)).to.not.include('TOKEN').and.not.include('hidden');
    expect(await scene.said(env, 2)).to.match(/^failure: 1 fault: .*web\.yaml:\d+: input "tocks"/);
    expect(await scene.said(env, 3)).to.match(/^failure: 1 fault: .*web\.yaml:\d+: "web" depends on itself/);
    expect(scene.plans).to.have.length(0);
    await env.apply({ other: idleManifest('other') });
    const before = await scene.check(env, 1);
    await scene.look(env);
    expect(await scene.check(env, 1)).to.deep.equal(before);
  });

  it('is one plan where one of many changes', async function () {
    this.timeout(120_000);
    await scene.look(env);
    const head = scene.branch(env, 'topic', { web: idleManifest('web', 'x') });
    const { repositoryUrl: repository } = await env.binding();
    for (let number = 1; number <= MANY; number += 1) {
      const branch = `topic-${number}`;
      env.repository.git('update-ref', `refs/heads/${branch}`, head);
      await insertPullRequest(scene.db, {
        ...{
          bindingId: env.bindingId,
          repository,
          title: branch,
          body: '',
          base: 'main',
          branch,
          headSha: head,
        },
        ...{ subject: {}, author: 'Ada', authorId: null },
      });
    }
    for (let pass = 0; pass < 40 && scene.plans.length < MANY; pass += 1) {
      const before = scene.plans.length;
      await scene.look(env);
      expect(scene.plans.length - before).to.be.at.most(8);
    }
    expect(scene.plans).to.have.length(MANY);
    await scene.push(env, await scene.pull(env, 27), { more: idleManifest('more') });
    for (let pass = 0; pass < 5; pass += 1) await scene.look(env);
    expect(scene.plans).to.have.length(MANY + 1);
    expect(await scene.said(env, 27)).to.equal('success: 1 changed, 1 created');
  });

  it('is not made of what is pushed from here, and not while the environment is not bound', async () => {
    await scene.openHere(env, 'topic', scene.branch(env, 'topic', { web: idleManifest('web', 'x') }));
    for (const mode of ['push', 'off']) {
      await scene.db('git_bindings').where({ id: env.bindingId }).update({ mode });
      await scene.look(env);
    }
    expect(scene.plans).to.have.length(0);
    await scene.db('git_bindings').where({ id: env.bindingId }).update({ mode: 'observe' });
    await scene.look(env);
    expect(await scene.said(env)).to.equal('success: 1 changed; nothing is applied in this mode');
  });
});
