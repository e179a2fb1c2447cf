import { expect } from 'chai';
import { gitSyncOperations, gitSyncWords } from '../../../controller/delivery/bindings/index.ts';
import type { Execute } from '../../../controller/platform/operation/operation.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { type BoundEnvironment, ReconcileScene } from '../../support/scenes/reconcile.ts';

describe('a pass that is under way while somebody', () => {
  let scene: ReconcileScene;
  let env: BoundEnvironment;
  before(async () => {
    scene = await ReconcileScene.open();
  });
  beforeEach(async () => {
    env = await scene.environment();
    await env.apply({ a: idleManifest('a') });
    env.commit({ a: idleManifest('a', 'second'), b: idleManifest('b') });
  });
  after(() => scene.close());

  /** A pass in which something happens just before or after it first writes an object. */
  const pass = (when: 'before' | 'after', happen: () => Promise<unknown>) => {
    let happened = false;
    const once = async () => {
      if (happened) return;
      happened = true;
      await happen();
    };
    const execute: Execute = async (operation, ctx, input) => {
      const writes = operation.name === 'pipeline.converge';
      if (writes && when === 'before') await once();
      const output = await scene.execute(operation, ctx, input);
      if (writes && when === 'after') await once();
      return output;
    };
    return env.pass({ execute });
  };
  const owners = async () => (await env.pipelines()).map(({ name, managedBy }) => [name, managedBy]);

  for (const mode of ['off', 'push'] as const) {
    it(`sets the mode to ${mode} leaves everything to the UI`, async () => {
      await pass('before', () => env.say(gitSyncOperations.configure, { mode }));
      expect(await owners()).to.deep.equal([['a', 'ui']]);
      expect(await env.manifestNames()).to.deep.equal([]);
      expect(await env.binding()).to.include({ mode, appliedCommit: null, begunAt: null });
    });

    it(`sets the mode to ${mode} leaves to the UI what it had written, too`, async () => {
      await pass('after', () => env.say(gitSyncOperations.configure, { mode }));
      expect(await owners()).to.deep.equal([
        ['a', 'ui'],
        ['b', 'ui'],
      ]);
      expect(await env.manifestNames()).to.deep.equal([]);
      expect(await env.binding()).to.include({ mode, appliedCommit: null, begunAt: null });
    });
  }

  it('suspends git changes nothing any more, and is looked at again', async () => {
    const result = await pass('before', () => env.say(gitSyncWords.suspend, { reason: 'Stop' }));
    expect(result).to.include({ outcome: 'unchanged', error: null, again: true });
    expect(result.report.join()).to.match(/the binding was changed meanwhile/);
    expect(await env.pipeline('a')).to.include({ version: 1 });
    await env.say(gitSyncWords.resume, {});
    expect((await env.pass()).counts).to.include({ changed: 1, created: 1 });
  });

  it('tightens the policy does not go by the old one', async () => {
    env.commit({ a: null });
    await env.pass();
    env.commit({ b: null, c: idleManifest('c') });
    const result = await pass('before', () =>
      env.say(gitSyncOperations.configure, { mode: 'sync', policy: { maxDeletes: 0 } }),
    );
    expect(result.counts).to.include({ deleted: 0, created: 0 });
    expect((await env.pass()).outcome).to.equal('guarded');
    expect(await env.living()).to.deep.equal(['b']);
  });
});
