import { expect } from 'chai';
import { gitSyncHolds, gitSyncOverrides } from '../../../controller/delivery/bindings/index.ts';
import { pipelineDeploying, pipelineEditing } from '../../../controller/pipelines/index.ts';
import { rejection } from '../../support/fixtures/fault-text.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { reportText } from '../../support/scenes/bound-environment.ts';
import { PRODUCTION } from '../../support/scenes/config-repository.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

const pipeline = (name: string) => ({ kind: 'Pipeline', name });
const rule = (name: string, pipelineRef: string) =>
  `apiVersion: headgate/v1\nkind: AlertRule\nmetadata: { name: ${name} }\nspec: { pipelineRef: ${pipelineRef}, metric: pipeline_crashed, condition: eq, threshold: 1 }\n`;

describe('overrides of operators', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);

  const overrides = () => scene.db('object_overrides').where({ binding_id: env.bindingId });
  const description = async (name: string) => (await env.pipeline(name)).description;

  describe('hold', () => {
    beforeEach(async () => {
      await env.apply({ web: idleManifest('web', 'first') });
      await env.apply({ web: idleManifest('web', 'second'), other: idleManifest('other') });
    });
    const rollBack = async () => {
      const { id } = await env.pipeline('web');
      const [first] = await scene.db('pipeline_versions').where({ pipeline_id: id, version: 1 }).select('id');
      await env.byHand(pipelineDeploying.rollback, { pipelineId: id, targetVersionId: first.id });
      return id;
    };
    const holds = async () => (await env.execute(gitSyncHolds.holds, {})).holds;

    it('keeps a rolled back pipeline, with its author and reason, until the spec changes', async () => {
      const id = await rollBack();
      for (let n = 0; n < 2; n += 1) await env.pass();
      expect(await env.pipeline('web')).to.include({ version: 3, deployedVersion: 3 });
      const condition = await env.condition('web', 'Applied');
      expect(condition).to.include({ status: 'False', reason: 'Held' });
      expect(condition.message).to.match(
        /^Held by Ada at .* UTC: Rolled back to version 1\. A newer spec is taken$/,
      );
      expect((await holds())[0]).to.deep.include({ ...pipeline('web'), by: 'Ada', current: true });
      await env.apply({ web: idleManifest('web', 'third') });
      expect(await env.pipeline('web')).to.include({
        id,
        version: 4,
        deployedVersion: 4,
        description: 'third',
      });
      expect((await holds())[0]).to.deep.include({ current: false });
      await env.apply({ web: idleManifest('web', 'second') });
      expect(await description('web'), 'the held spec came back').to.equal('third');
    });

    it('follows the object through a rename in git', async () => {
      await rollBack();
      await env.apply({ web: idleManifest('shop', 'third', ', previousName: web') });
      await env.apply({ web: idleManifest('shop', 'second') });
      expect(await description('shop')).to.equal('third');
      expect(await env.condition('shop', 'Applied')).to.include({ status: 'False', reason: 'Held' });
      expect((await holds())[0]).to.deep.include({ ...pipeline('shop'), current: true });
    });

    it('keeps the object through a rename with the same spec, also after it loses its previousName', async () => {
      const id = await rollBack();
      await env.apply({ web: idleManifest('shop', 'second', ', previousName: web') });
      await env.apply({ web: idleManifest('shop', 'second') });
      expect(await env.living()).to.deep.equal(['other', 'web']);
      expect(await env.pipeline('web')).to.include({ id, deployedVersion: 3 });
      await env.apply({ web: idleManifest('shop', 'third', ', previousName: web') });
      expect(await env.pipeline('shop')).to.include({ id, description: 'third' });
    });

    it('does not keep another object with the same spec', async () => {
      await rollBack();
      await env.apply({ web: idleManifest('web', 'third') });
      await env.apply({ web: null, shop: idleManifest('shop', 'second') });
      expect(await env.living()).to.deep.equal(['other', 'shop']);
    });

    it('ends when it is released', async () => {
      await rollBack();
      await env.pass();
      const [{ id } = { id: '' }] = await holds();
      await env.execute(gitSyncHolds.releaseHold, { id });
      expect((await env.pass()).counts).to.include({ changed: 1 });
      expect(await description('web')).to.equal('second');
      expect(await env.condition('web', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
      expect((await rejection(env.execute(gitSyncHolds.releaseHold, { id }))).code).to.equal('NOT_FOUND');
      expect(await env.audited()).to.deep.equal([
        'gitSync.held',
        'gitSync.holdReleased',
        'gitSync.driftFound',
        'gitSync.driftHealed',
      ]);
    });

    it('keeps a pipeline undeployed that an operator has undeployed with a hold', async () => {
      const { id } = await env.pipeline('web');
      await env.byHand(pipelineDeploying.undeploy, { pipelineId: id, hold: true, reason: 'it leaks' });
      await env.pass();
      expect(await env.pipeline('web')).to.include({ isDraft: true, deployedVersion: null });
      expect((await env.condition('web', 'Applied')).message).to.include('it leaks');
      expect((await holds())[0]).to.deep.include({ reason: 'it leaks' });
    });

    it('blocks no dependent of an object that exists, and those of one that was never created', async () => {
      await rollBack();
      expect((await env.apply({ r: rule('r', 'web') })).counts).to.include({ created: 1, refused: 0 });
      await env.apply({ late: idleManifest('late').replace('[ticks]', '[tick]') });
      await env.execute(gitSyncOverrides.suspend, pipeline('late'));
      await env.apply({ late: idleManifest('late'), s: rule('s', 'late') });
      expect(await env.condition('s', 'Applied')).to.include({ reason: 'Blocked' });
      await env.execute(gitSyncOverrides.resume, pipeline('late'));
      expect((await env.pass()).counts).to.include({ created: 2 });
    });

    it('may be set at any time, and again', async () => {
      for (let n = 0; n < 2; n += 1)
        await env.execute(gitSyncHolds.hold, { ...pipeline('OTHER'), reason: `check ${n}` });
      expect((await holds()).map(({ reason }) => reason)).to.deep.equal(['check 1']);
      expect(
        (await rejection(env.execute(gitSyncHolds.hold, { ...pipeline('nobody'), reason: 'x' }))).code,
      ).to.equal('NOT_FOUND');
    });
  });

  describe('suspend', () => {
    beforeEach(async () => {
      await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
    });

    it('stops changes, healing and deletion of one object until it is resumed', async () => {
      await env.execute(gitSyncOverrides.suspend, { ...pipeline('Web'), reason: 'night shift' });
      await env.apply({ web: idleManifest('web', 'changed'), other: idleManifest('other', 'changed') });
      expect(await description('web')).to.equal('');
      expect(await description('other')).to.equal('changed');
      const condition = await env.condition('web', 'Applied');
      expect(condition).to.include({ status: 'False', reason: 'Suspended' });
      expect(condition.message).to.match(/^Suspended by Ada at .*: night shift: git leaves it alone$/);
      await env.apply({ web: null });
      expect(await env.living()).to.deep.equal(['other', 'web']);
      await env.execute(gitSyncOverrides.resume, pipeline('web'));
      await env.pass();
      expect(await env.living()).to.deep.equal(['other']);
      expect(await env.audited()).to.deep.equal(['gitSync.suspended', 'gitSync.resumed']);
    });

    it('is rejected twice, and for half of a name; the same for all objects at once', async () => {
      expect((await rejection(env.execute(gitSyncOverrides.resume, pipeline('web')))).code).to.equal(
        'PRECONDITION_FAILED',
      );
      expect((await rejection(env.execute(gitSyncOverrides.resume, {}))).code).to.equal(
        'PRECONDITION_FAILED',
      );
      expect((await rejection(env.execute(gitSyncOverrides.suspend, { kind: 'Pipeline' }))).code).to.equal(
        'BAD_REQUEST',
      );
      await env.execute(gitSyncOverrides.suspend, { reason: 'all of it' });
      expect(await env.binding()).to.deep.include({ suspendedBy: 'Ada', suspendReason: 'all of it' });
      expect((await rejection(env.execute(gitSyncOverrides.suspend, {}))).code).to.equal(
        'PRECONDITION_FAILED',
      );
      await env.execute(gitSyncOverrides.resume, {});
      expect(await env.binding()).to.deep.include({
        suspendedAt: null,
        suspendedBy: null,
        suspendReason: null,
      });
    });
  });

  describe('confirm a deletion', () => {
    it('deletes what headgate/prune: confirm keeps, once', async () => {
      await env.apply({
        web: idleManifest('web', '', ', annotations: { headgate/prune: confirm }'),
        other: idleManifest('other'),
      });
      const early = await rejection(env.execute(gitSyncOverrides.confirmPrune, pipeline('web')));
      expect(early.message).to.equal('"web" does not wait to be deleted');
      await env.apply({ web: null });
      await env.execute(gitSyncOverrides.confirmPrune, pipeline('web'));
      expect((await env.pass()).counts).to.include({ deleted: 1 });
      expect(await env.living()).to.deep.equal(['other']);
      expect(await overrides()).to.deep.equal([]);
    });

    it('counts for one deletion: a manifest that comes back withdraws it', async () => {
      const text = idleManifest('web', '', ', annotations: { headgate/prune: confirm }');
      await env.apply({ web: text, other: idleManifest('other') });
      await env.apply({ web: null });
      await env.execute(gitSyncOverrides.confirmPrune, pipeline('web'));
      await env.apply({ web: text });
      expect(await overrides()).to.deep.equal([]);
      await env.apply({ web: null });
      expect(await env.living()).to.deep.equal(['other', 'web']);
    });

    it('counts as a commit on top of a rewritten history, for its object', async () => {
      const all = { web: idleManifest('web'), other: idleManifest('other'), third: idleManifest('third') };
      await env.apply(all);
      env.commit({ other: idleManifest('other') }, { orphan: true });
      await env.pass();
      await env.execute(gitSyncOverrides.confirmPrune, pipeline('web'));
      await env.pass();
      expect(await env.living()).to.deep.equal(['other', 'third']);
    });

    it('is rejected for headgate/prune: never', async () => {
      await env.apply({
        web: idleManifest('web', '', ', annotations: { headgate/prune: never }'),
        other: idleManifest('other'),
      });
      await env.apply({ web: null });
      expect((await rejection(env.execute(gitSyncOverrides.confirmPrune, pipeline('web')))).message).to.match(
        /prune: never/,
      );
    });
  });

  describe('adopt', () => {
    it('is required where a manifest only shares the name, and keeps id and history', async () => {
      const id = await env.insertPipeline('Web');
      await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
      expect(await env.condition('web', 'Applied')).to.include({ status: 'False', reason: 'Conflict' });
      await env.execute(gitSyncOverrides.adopt, pipeline('web'));
      const result = await env.pass();
      expect(reportText(result)).to.match(/web: renamed from Web|is git's now/);
      expect(await env.pipeline('web')).to.include({ id, managedBy: 'git', version: 1, deployedVersion: 1 });
      expect(await overrides()).to.deep.equal([]);
      expect(await env.condition('web', 'Applied')).to.include({ status: 'True' });
      expect((await env.pass()).outcome).to.equal('unchanged');
      const again = await rejection(env.execute(gitSyncOverrides.adopt, pipeline('web')));
      expect(again.code).to.equal('PRECONDITION_FAILED');
    });

    it('is implied where the uid of the manifest is the id of the object', async () => {
      const id = await env.insertPipeline('old');
      await env.apply({ web: idleManifest('new', '', `, uid: "${id}"`) });
      expect(await env.pipelines()).to.have.length(1);
      expect(await env.pipeline('new')).to.include({ id, managedBy: 'git', uid: id });
    });

    it('takes over an equal version and makes none', async () => {
      const { id } = await env.byHand(pipelineEditing.create, { name: 'web', environmentId: env.id });
      const reference = await env.apply({ elsewhere: idleManifest('elsewhere') });
      expect(reference.counts).to.include({ created: 1 });
      const { config_yaml: configYaml } = await scene
        .db('pipeline_versions')
        .where({ pipeline_id: (await env.pipeline('elsewhere')).id })
        .first('config_yaml');
      await env.byHand(pipelineDeploying.createVersion, { pipelineId: id, configYaml });
      await env.byHand(pipelineDeploying.deployAgent, { pipelineId: id, changelog: 'by hand' });
      const before = await env.pipeline('web');
      expect(before).to.include({ version: 2, deployedVersion: 2 });
      await env.apply({ web: idleManifest('web', '', `, uid: "${id}"`) });
      expect(await env.pipeline('web')).to.include({ id, managedBy: 'git', version: 2, deployedVersion: 2 });
      await scene.db('pipelines').where({ id }).update({ description: 'changed past git' });
      await env.pass();
      expect(await env.pipeline('web'), 'healing makes no version either').to.include({ version: 2 });
      await env.apply({
        web: idleManifest('web', '', `, uid: "${id}"`).replace('interval: 1', 'interval: 2'),
      });
      expect(await env.pipeline('web')).to.include({ version: 3, deployedVersion: 3 });
    });

    it('is rejected where there is nothing to adopt', async () => {
      await env.apply({ web: idleManifest('web') });
      expect((await rejection(env.execute(gitSyncOverrides.adopt, pipeline('web')))).code).to.equal(
        'PRECONDITION_FAILED',
      );
      expect((await rejection(env.execute(gitSyncOverrides.adopt, pipeline('nobody')))).code).to.equal(
        'NOT_FOUND',
      );
    });
  });

  describe('by policy', () => {
    it('prune: false keeps what was removed from git, with the reason', async () => {
      await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
      await env.setPolicy({ prune: false });
      await env.apply({ web: null });
      expect(await env.living()).to.deep.equal(['other', 'web']);
      expect(await env.condition('web', 'Applied')).to.include({ reason: 'PruneRefused' });
      await env.setPolicy({});
      await env.pass();
      expect(await env.living()).to.deep.equal(['other']);
    });

    describe('selfHeal: false', () => {
      beforeEach(async () => {
        await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
        await env.setPolicy({ selfHeal: false });
        await scene
          .db('pipelines')
          .where({ environment_id: env.id, name: 'web' })
          .update({ description: 'by hand' });
      });

      it('reports a change past git once, and leaves it', async () => {
        for (let n = 0; n < 3; n += 1) await env.pass();
        expect(await description('web')).to.equal('by hand');
        expect(await env.condition('web', 'Applied')).to.include({ status: 'True', reason: 'Drifted' });
        expect(await env.audited()).to.deep.equal(['gitSync.driftFound']);
      });

      it('applies what is new in git all the same', async () => {
        await env.pass();
        await env.apply({ web: idleManifest('web', 'from git') });
        expect(await description('web')).to.equal('from git');
        expect(await env.condition('web', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
      });

      it('is healed once that is allowed again', async () => {
        await env.pass();
        await env.setPolicy({});
        await env.pass();
        expect(await description('web')).to.equal('');
        expect(await env.audited()).to.deep.equal(['gitSync.driftFound', 'gitSync.driftHealed']);
      });
    });

    describe('owns', () => {
      const ruleRow = () =>
        scene.db('alert_rules').where({ environment_id: env.id, tombstoned_at: null }).first();

      it('gives objects of other kinds to the UI as they are, and reads their manifests no more', async () => {
        await env.apply({ web: idleManifest('web'), r: rule('r', 'web') });
        const { id } = await ruleRow();
        await env.setPolicy({ owns: ['Pipeline'] });
        await env.pass();
        expect(await ruleRow()).to.include({ id, managed_by: 'ui', name: 'r' });
        expect(await env.condition('r', 'Applied')).to.include({ status: 'Unknown', reason: 'NotOwned' });
        expect(await env.manifest('r')).to.include({ objectId: null });
        expect(await env.audited()).to.deep.equal(['gitSync.orphaned']);
        await env.apply({ r: null });
        expect(await ruleRow(), 'gone from git').to.include({ id, managed_by: 'ui' });
        expect((await env.pass()).outcome).to.equal('unchanged');
      });

      it('gives an object to the UI also after its manifest was deleted', async () => {
        await env.apply({ web: idleManifest('web'), r: rule('r', 'web') });
        await env.setPolicy({ owns: ['Pipeline'] });
        await env.apply({ r: null });
        expect(await ruleRow()).to.include({ managed_by: 'ui' });
        expect(await env.manifestNames()).to.deep.equal(['web']);
      });

      it('requires an adoption before git takes an object back', async () => {
        await env.apply({ web: idleManifest('web'), r: rule('r', 'web') });
        const { id } = await ruleRow();
        await env.setPolicy({ owns: ['Pipeline'] });
        await env.pass();
        await env.setPolicy({});
        await env.pass();
        expect(await env.condition('r', 'Applied')).to.include({ reason: 'Conflict' });
        await env.execute(gitSyncOverrides.adopt, { kind: 'AlertRule', name: 'r' });
        await env.pass();
        expect(await ruleRow()).to.include({ id, managed_by: 'git' });
      });

      it('can be narrowed by the Environment manifest, from the next pass on', async () => {
        await env.apply({ web: idleManifest('web'), r: rule('r', 'web') });
        env.repository.commit({
          [`${PRODUCTION.path}/environment.yaml`]:
            'apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: production }\nspec: { owns: [AlertRule] }\n',
        });
        expect((await env.pass()).requeue).to.equal(true);
        await env.pass();
        expect(await env.pipeline('web')).to.include({ managedBy: 'ui', deployedVersion: 1 });
        expect(await ruleRow()).to.include({ managed_by: 'git' });
        expect((await env.pass()).outcome).to.equal('unchanged');
      });
    });
  });
});
