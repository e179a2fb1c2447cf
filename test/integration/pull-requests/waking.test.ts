/** What wakes the loop over pull requests: signals of others, the timer, a change of hands. */
import { expect } from 'chai';
import type { Signal } from '../../../controller/platform/runtime/bus.ts';
import { ForgeError } from '../../../reconcilers/forges/forge.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { until } from '../../support/harness/until.ts';
import { type PlayedController, PullRequestScene } from '../../support/scenes/pull-request-scene.ts';
import type { BoundEnvironment } from '../../support/scenes/reconcile.ts';

describe('the loop over pull requests', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  let played: PlayedController;
  beforeEach(async () => {
    scene = await PullRequestScene.open();
    env = await scene.environment();
    await env.apply({ web: idleManifest('web') });
    played = await scene.controller();
    await played.reconciler.look(env.id, 'test');
  });
  afterEach(() => scene.close());

  const publish = (signal: Exclude<Signal, { type: 'resync' }>) =>
    scene.scene.services.bus.publish(scene.db, signal);
  function open(): string {
    const headSha = scene.branch(env, 'topic-7', { web: idleManifest('web', String(Math.random())) });
    scene.forge.set(7, { headSha });
    return headSha;
  }
  const untilPlanned = (headSha: string, move = () => {}) =>
    until(
      () => {
        move();
        return scene.forge.statusOf(headSha) === 'success: 1 changed';
      },
      { what: () => `the plan of ${headSha}: ${scene.forge.statusOf(headSha)}`, everyMs: 20 },
    );

  it('looks when a webhook or a merge wakes it', async () => {
    const headSha = open();
    await publish({ type: 'wake', loop: 'pull-requests', key: env.id, trigger: 'webhook' });
    await untilPlanned(headSha);
  });

  it('asks the forge once for all environments of a repository', async () => {
    const beside = await scene.environment();
    const { repositoryUrl } = await env.binding();
    await scene.db('git_bindings').where({ id: beside.bindingId }).update({ repository_url: repositoryUrl });
    await played.reconciler.look(beside.id, 'test');
    const before = scene.forge.count('listOpen');
    // Both ask at the same time; whoever comes second is answered by what the first is told.
    await Promise.all([
      played.reconciler.look(env.id, 'webhook'),
      played.reconciler.look(beside.id, 'webhook'),
    ]);
    expect(scene.forge.count('listOpen')).to.equal(before + 1);
    await played.reconciler.look(beside.id, 'webhook');
    expect(scene.forge.count('listOpen')).to.equal(before + 2);
    scene.clock.advance(20_000);
    await played.reconciler.look(env.id, 'webhook');
    // The time of the second comes, when the list of the first is not as old as that.
    for (let seconds = 0; seconds < 70; seconds += 10) {
      scene.clock.advance(10_000);
      await played.reconciler.idle();
    }
    expect(scene.forge.count('listOpen')).to.equal(before + 4);
  });

  it('looks when its time has come, though something else wakes it all the while', async () => {
    const headSha = open();
    await untilPlanned(headSha, () => {
      scene.clock.advance(1_000);
      void publish({ type: 'ui', environmentId: env.id, topics: ['git'] });
    });
    expect(scene.forge.count('listOpen')).to.be.at.least(2);
  });

  it('looks at what changed here without asking the forge, many signals at once', async () => {
    const headSha = open();
    await played.reconciler.look(env.id, 'test');
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

  it('goes on with another controller where the first is gone', async () => {
    const second = await scene.controller();
    await played.stop();
    const headSha = open();
    await untilPlanned(headSha);
    expect(second.lease.epoch()).to.not.equal(null);
    await until(() => scene.forge.count('comment') === 1, { what: 'its comment, after the status' });
  });

  it('looks at other environments while one forge does not answer', async () => {
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
    const slow = others.map((other) => played.reconciler.look(other.id, 'webhook'));
    await until(() => hanging === 0, { what: 'three forges that hang' });
    const headSha = open();
    await played.reconciler.look(env.id, 'webhook');
    expect(scene.forge.statusOf(headSha)).to.equal('success: 1 changed');
    answer();
    await Promise.all(slow);
  });
});
