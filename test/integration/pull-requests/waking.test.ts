/** What wakes the loop over pull requests: signals, the timer, another leader. */
import { expect } from 'chai';
import type { Signal } from '../../../controller/platform/runtime/bus.ts';
import { ForgeError } from '../../../reconcilers/forges/forge.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { until } from '../../support/harness/until.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { PullRequestScene, type SceneController } from '../../support/scenes/pull-request-scene.ts';

describe('the loop over pull requests', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  let controller: SceneController;
  before(async () => {
    scene = await PullRequestScene.open();
  });
  beforeEach(async () => {
    env = await scene.environment();
    await env.apply({ web: idleManifest('web') });
    controller = await scene.controller();
    await pass();
  });
  afterEach(() => scene.clear());
  after(() => scene.close());

  const pass = (trigger = 'test', of = env) => controller.reconciler.reconcile(of.id, trigger);

  const publish = (signal: Exclude<Signal, { type: 'resync' }>) =>
    scene.scene.services.bus.publish(scene.db, signal);
  const open = () => scene.openOnForge(env, 7);
  const untilPlanned = (headSha: string, move = () => {}) =>
    until(
      () => {
        move();
        return scene.forge.statusOf(headSha) === 'success: 1 changed';
      },
      { what: () => `the plan of ${headSha}: ${scene.forge.statusOf(headSha)}`, everyMs: 20 },
    );

  it('runs when a webhook or a merge wakes it', async () => {
    const headSha = open();
    await publish({ type: 'wake', loop: 'pull-requests', key: env.id, trigger: 'webhook' });
    await untilPlanned(headSha);
  });

  it('asks the forge once for all environments of a repository', async () => {
    const beside = await scene.environment();
    const { repositoryUrl } = await env.binding();
    await scene.db('git_bindings').where({ id: beside.bindingId }).update({ repository_url: repositoryUrl });
    await pass('test', beside);
    const before = scene.forge.count('listOpen');
    // Both ask at the same time: the second gets the answer of the first.
    await Promise.all([pass('webhook'), pass('webhook', beside)]);
    expect(scene.forge.count('listOpen')).to.equal(before + 1);
    await pass('webhook', beside);
    expect(scene.forge.count('listOpen')).to.equal(before + 2);
    scene.clock.advance(20_000);
    await pass('webhook');
    // The timer of the second fires while the list of the first is still new enough.
    for (let seconds = 0; seconds < 70; seconds += 10) {
      scene.clock.advance(10_000);
      await controller.reconciler.idle();
    }
    expect(scene.forge.count('listOpen')).to.equal(before + 4);
  });

  it('runs when its time has come, though signals wake it all the while', async () => {
    const headSha = open();
    await untilPlanned(headSha, () => {
      scene.clock.advance(1_000);
      void publish({ type: 'ui', environmentId: env.id, topics: ['git'] });
    });
    expect(scene.forge.count('listOpen')).to.be.at.least(2);
  });

  it('plans what changed here without asking the forge, once for many signals', async () => {
    const headSha = open();
    await pass();
    const [listed, plans] = [scene.forge.count('listOpen'), scene.plans.length];
    await env.apply({ other: idleManifest('other') });
    for (let n = 0; n < 20; n += 1)
      await publish({ type: 'ui', environmentId: env.id, topics: ['git', 'pipelines'] });
    await until(
      () => {
        scene.clock.advance(100);
        return scene.plans.length > plans;
      },
      { what: 'a plan on what was applied', everyMs: 20 },
    );
    expect(scene.forge.count('listOpen')).to.equal(listed);
    expect(scene.forge.statusOf(headSha)).to.equal('success: 1 changed');
  });

  it('continues on another controller where the first has stopped', async () => {
    const second = await scene.controller();
    // Nothing wakes the first one; the second looks as soon as it leads.
    const headSha = open();
    await controller.stop();
    await untilPlanned(headSha);
    expect(second.lease.epoch()).to.not.equal(null);
    await until(() => scene.forge.count('comment') === 1, { what: 'its comment, after the status' });
  });

  it('serves other environments while one forge does not answer', async () => {
    const others = [await scene.environment(), await scene.environment(), await scene.environment()];
    for (const other of others) await other.apply({ web: idleManifest('web') });
    const { promise: never, resolve: answer } = Promise.withResolvers<void>();
    let hanging = 3;
    scene.forge.before = async (call) => {
      if (call !== 'listOpen' || hanging === 0) return;
      hanging -= 1;
      await never;
      throw new ForgeError('unavailable', 'it took too long');
    };
    const slow = others.map((other) => pass('webhook', other));
    await until(() => hanging === 0, { what: 'three forges that hang' });
    const headSha = open();
    await pass('webhook');
    expect(scene.forge.statusOf(headSha)).to.equal('success: 1 changed');
    answer();
    await Promise.all(slow);
  });
});
