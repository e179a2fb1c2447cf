/** The check of a pull request: a plan of its merge, made again where anything that it depends on has changed, and only then. */
import { expect } from 'chai';
import { clearOldPlans, updatePullRequest } from '../../../controller/delivery/pull-requests/index.ts';
import { preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { type BoundEnvironment, pathOf } from '../../support/scenes/bound-environment.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';

/** More than one pass plans. */
const MANY = 12;
const TICKS = 'inputs: [ticks]';
const withInput = (name: string) => idleManifest('web').replace(TICKS, `inputs: [${name}]`);
const WITH_SECRET = idleManifest('web').replace(
  'interval: 1',
  'interval: 1, token: "$' + '{SVC_SECRET_TOKEN}"',
);

describe('the check of a pull request that is kept here', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  before(async () => {
    scene = await PullRequestScene.open();
  });
  beforeEach(async () => {
    env = await scene.environment('here');
    await env.apply({ web: idleManifest('web'), edge: idleManifest('edge') });
  });
  afterEach(() => scene.clear());
  after(() => scene.close());

  const main = () => env.repository.git('rev-parse', 'main');

  it('is the plan of the merge: what changes, and on how many nodes', async () => {
    for (const name of ['a', 'b', 'c'])
      await scene.db('nodes').insert({
        ...{ id: `${env.id}-${name}`, environment_id: env.id, name, host: `${name}.example.org` },
        token_hash: `${env.id}-${name}`,
      });
    const { headSha } = await scene.open(env, { web: idleManifest('web', 'x'), new: idleManifest('new') });
    await scene.pass(env);
    const check = await scene.check(env);
    expect(check).to.include({ state: 'success', headSha, reason: null, baseSha: main() });
    expect(check.summary).to.match(/^1 changed, 1 created; 3 nodes (restart|start)/);
    expect(check.plan?.counts).to.include({ create: 1, update: 1, unchanged: 1, delete: 0 });
    expect(check.plan).to.include({ commit: null, environmentId: env.id });
    expect(env.repository.git('for-each-ref')).to.not.include('headgate');
  });

  it('is made once, and again after a push to the branch and after one to the base', async () => {
    const pull = await scene.open(env);
    await scene.pass(env);
    const first = await scene.check(env);
    await scene.pass(env);
    await scene.restart();
    await scene.pass(env);
    expect(scene.plans).to.have.length(1);
    expect(await scene.check(env)).to.deep.equal(first);
    const headSha = await scene.push(env, pull, { more: idleManifest('more') });
    await scene.pass(env);
    expect(await scene.check(env)).to.include({ headSha, summary: '1 changed, 1 created' });
    await env.apply({ other: idleManifest('other') });
    await scene.pass(env);
    expect(await scene.check(env)).to.include({ baseSha: main(), summary: '1 changed, 1 created' });
    const made = scene.plans.length;
    await scene.pass(env);
    expect(scene.plans).to.have.length(made);
    const ahead = env.commit({ ahead: idleManifest('ahead') });
    await scene.pass(env);
    expect(await scene.check(env)).to.include({ baseSha: ahead, summary: '1 changed, 2 created' });
  });

  it('names the files that conflict, until they do not', async () => {
    const pull = await scene.open(env, { web: idleManifest('web', 'theirs') });
    await env.apply({ web: idleManifest('web', 'ours') });
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('failure: conflicts with main in 1 file');
    const { reason, plan } = await scene.check(env);
    expect(reason).to.include(pathOf('web'));
    expect(plan).to.equal(null);
    await scene.push(env, pull, { web: idleManifest('web', 'ours') });
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('success: all of it is in main already');
  });

  it('fails where a manifest is refused, a file cannot be read, a secret is missing or no commit is there', async () => {
    await scene.open(env, { web: withInput('tocks') }, 'a');
    await scene.open(env, { web: 'a: [' }, 'b');
    await scene.open(env, { web: WITH_SECRET }, 'c');
    await scene.openHere(env, 'gone', 'f'.repeat(40));
    await scene.pass(env);
    const summaries = await Promise.all([1, 2, 3, 4].map((number) => scene.summary(env, number)));
    expect(summaries[0]).to.match(/^failure: 1 manifest refused: web: input "tocks" of "discard"/);
    expect(summaries[1]).to.match(/^failure: /);
    expect(summaries[2]).to.match(/^failure: 1 manifest refused: web: the secret behind/);
    expect(summaries[3]).to.match(/^error: no plan: the repository has no commit fffffff on "gone"/);
    await scene.db('secrets').insert({
      ...{ id: 'secret-1', environment_id: env.id, name: 'token' },
      ...{ variable: 'SVC_SECRET_TOKEN', sealed_value: 'sealed' },
    });
    await scene.pass(env);
    expect(await scene.summary(env, 3)).to.equal('success: 1 changed');
  });

  it('counts faults of the base apart from its own', async () => {
    env.commit({ web: withInput('tocks'), edge: 'a: [' });
    await env.pass();
    await scene.open(env, { new: idleManifest('new') }, 'a');
    await scene.open(env, { web: withInput('clocks') }, 'b');
    await scene.pass(env);
    expect(await scene.summary(env, 1)).to.equal('success: 1 created; 2 faults from before');
    expect(await scene.summary(env, 2)).to.match(/^failure: 1 manifest refused: web: input "clocks"/);
  });

  it('fails over the guards, which an ADMIN has to approve after the merge', async () => {
    await env.setPolicy({ maxDeletes: 1 });
    await scene.open(env, { web: null, edge: null, rest: idleManifest('rest') });
    await scene.open(env, { web: null, edge: null }, 'all');
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal(
      'failure: over the guards: waits for an ADMIN after the merge (maxDeletes)',
    );
    expect(await scene.summary(env, 2)).to.match(/^failure: /);
  });

  it('is tried again after a fault, later or at the next change', async () => {
    const pull = await scene.open(env);
    let faults = 3;
    scene.beforePlan = () => {
      faults -= 1;
      if (faults >= 0) throw preconditionFailed('the disk is on fire');
    };
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('error: no plan: the disk is on fire');
    expect((await scene.check(env)).reason).to.include('tried again');
    await scene.pass(env);
    expect(scene.plans, 'not at once').to.have.length(1);
    scene.clock.advance(6_000);
    await scene.pass(env);
    expect(scene.plans).to.have.length(2);
    await scene.push(env, pull, { web: idleManifest('web', 'y') });
    await scene.pass(env);
    expect(scene.plans).to.have.length(3);
    scene.clock.advance(6_000);
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('success: 1 changed');
  });

  it('is not of a head that was replaced meanwhile, and not of a closed one until it is reopened', async () => {
    const pull = await scene.open(env);
    scene.beforePlan = async () => {
      scene.beforePlan = () => {};
      await scene.push(env, pull, { more: idleManifest('more') });
    };
    await scene.pass(env);
    expect(await scene.check(env)).to.include({ state: 'pending', computedAt: null, plan: null });
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('success: 1 changed, 1 created');
    await scene.push(env, pull, { more: null });
    await updatePullRequest(scene.db, pull.id, { state: 'closed' });
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('success: 1 changed, 1 created');
    const gone = { closedBefore: new Date(Date.now() + 60_000), reason: 'The plan was removed' };
    expect(await clearOldPlans(scene.db, gone, 100)).to.equal(1);
    expect(await scene.check(env)).to.include({ plan: null, reason: 'The plan was removed' });
    await updatePullRequest(scene.db, pull.id, { state: 'open' });
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('success: 1 changed');
    expect((await scene.check(env)).plan?.counts).to.include({ update: 1, create: 0 });
  });

  it('of a fork has only what its tree shows', async () => {
    await scene.open(
      env,
      { web: WITH_SECRET, edge: `${idleManifest('edge')}  dependsOn: [hidden]\n` },
      'good',
    );
    await scene.open(env, { web: withInput('tocks') }, 'wrong');
    await scene.open(env, { web: `${idleManifest('web')}  dependsOn: [web]\n` }, 'round');
    await scene.db('pull_requests').update({ is_fork: true });
    await scene.pass(env);
    const check = await scene.check(env);
    expect(check).to.include({
      state: 'success',
      summary: '2 manifests read; no plan for a fork',
      plan: null,
    });
    expect(check.reason).to.include('Checked: parse, schema').and.include('1 name not in the tree');
    expect(JSON.stringify(check)).to.not.include('TOKEN').and.not.include('hidden');
    expect(await scene.summary(env, 2)).to.match(/^failure: 1 fault: .*web\.yaml:\d+: input "tocks"/);
    expect(await scene.summary(env, 3)).to.match(
      /^failure: 1 fault: .*web\.yaml:\d+: "web" depends on itself/,
    );
    expect(scene.plans).to.have.length(0);
    await env.apply({ other: idleManifest('other') });
    await scene.pass(env);
    expect(await scene.check(env)).to.deep.equal(check);
  });

  it('is one plan where one of many changes, a few in each pass', async () => {
    const { headSha } = await scene.open(env);
    for (let number = 2; number <= MANY; number += 1) {
      env.repository.git('update-ref', `refs/heads/topic-${number}`, headSha);
      await scene.openHere(env, `topic-${number}`, headSha);
    }
    for (let pass = 0; pass < MANY && scene.plans.length < MANY; pass += 1) {
      const made = scene.plans.length;
      await scene.pass(env);
      expect(scene.plans.length - made).to.be.at.most(8);
    }
    expect(scene.plans).to.have.length(MANY);
    expect(scene.readers, 'one process of git for all of them').to.have.length(1);
    await scene.push(env, await scene.pull(env, 9), { more: idleManifest('more') });
    for (let pass = 0; pass < 4; pass += 1) await scene.pass(env);
    expect(scene.plans).to.have.length(MANY + 1);
    expect(await scene.summary(env, 9)).to.equal('success: 1 changed, 1 created');
  });

  it('is made in the modes sync and observe only', async () => {
    await scene.open(env);
    const setMode = (mode: string) => scene.db('git_bindings').where({ id: env.bindingId }).update({ mode });
    for (const mode of ['push', 'off']) {
      await setMode(mode);
      await scene.pass(env);
    }
    expect(scene.plans).to.have.length(0);
    await setMode('observe');
    await scene.pass(env);
    expect(await scene.summary(env)).to.equal('success: 1 changed; nothing is applied in this mode');
  });
});
