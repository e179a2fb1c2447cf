import { expect } from 'chai';
import { gitSyncOperations, gitSyncOverrides } from '../../../controller/delivery/bindings/index.ts';
import type { Execute } from '../../../controller/platform/operation/operation.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

describe('a pass during which an operator', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);
  beforeEach(async () => {
    await env.apply({ a: idleManifest('a') });
    env.commit({ a: idleManifest('a', 'second'), b: idleManifest('b') });
  });

  /** A pass with something that happens just before or after it first writes an object. */
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
    for (const [when, names] of [
      ['before', ['a']],
      ['after', ['a', 'b']],
    ] as const)
      it(`sets the mode to ${mode} ${when} the first write gives everything to the UI`, async () => {
        await pass(when, () => env.execute(gitSyncOperations.configure, { mode }));
        expect(await owners()).to.deep.equal(names.map((name) => [name, 'ui']));
        expect(await env.manifestNames()).to.deep.equal([]);
        expect(await env.binding()).to.include({ mode, appliedCommit: null, begunAt: null });
      });
  }

  it('suspends git changes nothing more, and another pass follows', async () => {
    const result = await pass('before', () => env.execute(gitSyncOverrides.suspend, { reason: 'Stop' }));
    expect(result).to.include({ outcome: 'unchanged', error: null, requeue: true });
    expect(reportText(result)).to.match(/the binding was changed meanwhile/);
    expect(await env.pipeline('a')).to.include({ version: 1 });
    await env.execute(gitSyncOverrides.resume, {});
    expect((await env.pass()).counts).to.include({ changed: 1, created: 1 });
  });

  it('tightens the policy does not use the old one', async () => {
    env.commit({ a: null });
    await env.pass();
    env.commit({ b: null, c: idleManifest('c') });
    const result = await pass('before', () =>
      env.execute(gitSyncOperations.configure, { mode: 'sync', policy: { maxDeletes: 0 } }),
    );
    expect(result.counts).to.include({ deleted: 0, created: 0 });
    expect((await env.pass()).outcome).to.equal('guarded');
    expect(await env.living()).to.deep.equal(['b']);
  });
});
