import { expect } from 'chai';
import { gitSyncOperations, gitSyncOverrides } from '../../../controller/delivery/bindings/index.ts';
import { pipelineDeploying } from '../../../controller/pipelines/index.ts';
import type { Execute } from '../../../controller/platform/operation/operation.ts';
import { secretOperations } from '../../../controller/secrets/index.ts';
import { rejection } from '../../support/fixtures/fault-text.ts';
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

  it('deletes a secret leaves out the pipeline that names it, and applies the others', async () => {
    const input = { environmentId: env.id, name: 'meanwhile', value: 'a value' };
    const { id } = await env.byHand(secretOperations.create, input);
    const reference = 'interval: 1, lines: ["$' + '{SVC_SECRET_MEANWHILE}"]';
    env.commit({ b: idleManifest('b').replace('interval: 1', reference) });
    const result = await pass('before', () =>
      env.byHand(secretOperations.remove, { environmentId: env.id, id }),
    );
    expect(result.counts).to.include({ changed: 1, created: 0, refused: 1 });
    expect(await env.living()).to.deep.equal(['a']);
    const { reason, message } = await env.condition('b', 'Applied');
    expect(reason).to.equal('ApplyFailed');
    expect(message).to.match(/SVC_SECRET_MEANWHILE\. Create it again or remove the reference/);
    await env.byHand(secretOperations.create, input);
    expect((await env.pass()).counts).to.include({ created: 1 });
  });

  describe('acts on a pipeline that it has written and not recorded yet:', () => {
    const rollBack = async () => {
      const { id } = await env.pipeline('a');
      const first = await scene.db('pipeline_versions').where({ pipeline_id: id, version: 1 }).first('id');
      await env.byHand(pipelineDeploying.rollback, { pipelineId: id, targetVersionId: first.id });
    };
    const undeploy = async () => {
      const { id } = await env.pipeline('a');
      await env.byHand(pipelineDeploying.undeploy, { pipelineId: id, hold: true, reason: 'it leaks' });
    };
    const goesBackInGit = async () => {
      env.commit({ a: idleManifest('a') });
      await env.pass();
      expect(await env.condition('a', 'Applied')).to.include({ status: 'True' });
      expect((await env.pipeline('a')).description).not.to.equal('second');
      expect(await env.pipeline('a')).to.include({ isDraft: false });
    };

    it('a rollback holds the spec that was written, and the earlier one is applied when git goes back to it', async () => {
      await pass('after', rollBack);
      await env.pass();
      expect(await env.pipeline('a')).to.include({ version: 3, deployedVersion: 3 });
      expect(await env.condition('a', 'Applied')).to.include({ status: 'False', reason: 'Held' });
      await goesBackInGit();
    });

    it('a rollback and then "Undeploy and hold" hold the same spec', async () => {
      await pass('after', async () => {
        await rollBack();
        await undeploy();
      });
      await env.pass();
      expect(await env.pipeline('a')).to.include({ isDraft: true, deployedVersion: null });
      expect((await env.condition('a', 'Applied')).message).to.include('it leaks');
      await goesBackInGit();
    });

    it('"Undeploy and hold" is rejected where the row was changed by SQL as well', async () => {
      let error: unknown;
      await pass('after', async () => {
        await scene.db('pipelines').where({ environment_id: env.id, name: 'a' }).update({ description: 'x' });
        error = await rejection(undeploy());
      });
      expect(error).to.include({ code: 'PRECONDITION_FAILED' });
      expect(String(error)).to.match(/is just being applied from git; try again in a moment/);
    });
  });
});
