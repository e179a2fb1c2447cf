import { expect } from 'chai';
import { gitSyncHolds, gitSyncWords } from '../../../controller/delivery/bindings/index.ts';
import { pipelineDeploying, pipelineEditing } from '../../../controller/pipelines/index.ts';
import { insertPipeline } from '../../../controller/pipelines/lifecycle/store.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { PRODUCTION } from '../../support/scenes/config-repository.ts';
import { type BoundEnvironment, ReconcileScene } from '../../support/scenes/reconcile.ts';

const pipeline = (name: string) => ({ kind: 'Pipeline', name });

describe('what operators say to the loop', () => {
  let scene: ReconcileScene;
  let env: BoundEnvironment;
  before(async () => {
    scene = await ReconcileScene.open();
  });
  beforeEach(async () => {
    env = await scene.environment();
  });
  after(() => scene.close());

  const refusal = (promise: Promise<unknown>): Promise<DomainError> =>
    promise.then(
      () => expect.fail('it went through'),
      (error: unknown) => {
        expect(error).to.be.instanceOf(DomainError);
        return error as DomainError;
      },
    );
  const words = () => scene.db('git_object_words').where({ binding_id: env.bindingId });
  const spec = async (name: string) => (await env.pipeline(name)).description;

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
    const holds = async () => (await env.say(gitSyncHolds.holds, {})).holds;

    it('keeps a rolled back pipeline as it is, says by whom and why, and takes a newer spec', async () => {
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
      expect(await spec('web'), 'the held spec came back').to.equal('third');
    });

    it('is not undone by a rename in git that leaves the spec as it is', async () => {
      await rollBack();
      await env.apply({ web: idleManifest('shop', 'second', ', previousName: web') });
      expect(await env.living()).to.deep.equal(['other', 'web']);
      expect((await env.pipeline('web')).deployedVersion).to.equal(3);
    });

    it('follows the object through a rename in git', async () => {
      await rollBack();
      await env.apply({ web: idleManifest('shop', 'third', ', previousName: web') });
      await env.apply({ web: idleManifest('shop', 'second') });
      expect(await spec('shop')).to.equal('third');
      expect(await env.condition('shop', 'Applied')).to.include({ status: 'False', reason: 'Held' });
      expect((await holds())[0]).to.deep.include({ ...pipeline('shop'), current: true });
    });

    it('keeps the object also where a rename that it holds up loses its previousName', async () => {
      const id = await rollBack();
      await env.apply({ web: idleManifest('shop', 'second', ', previousName: web') });
      await env.apply({ web: idleManifest('shop', 'second') });
      expect(await env.living()).to.deep.equal(['other', 'web']);
      expect(await env.pipeline('web')).to.include({ id, deployedVersion: 3 });
      await env.apply({ web: idleManifest('shop', 'third', ', previousName: web') });
      expect(await env.pipeline('shop')).to.include({ id, description: 'third' });
    });

    it('is about its object: another manifest may say the same', async () => {
      await rollBack();
      await env.apply({ web: idleManifest('web', 'third') });
      await env.apply({ web: null, shop: idleManifest('shop', 'second') });
      expect(await env.living()).to.deep.equal(['other', 'shop']);
    });

    it('ends when it is released: git is followed again', async () => {
      await rollBack();
      await env.pass();
      const [{ id } = { id: '' }] = await holds();
      await env.say(gitSyncHolds.releaseHold, { id });
      expect((await env.pass()).counts).to.include({ changed: 1 });
      expect(await spec('web')).to.equal('second');
      expect(await env.condition('web', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
      expect((await refusal(env.say(gitSyncHolds.releaseHold, { id }))).code).to.equal('NOT_FOUND');
      expect(await env.audited()).to.deep.equal([
        'gitSync.held',
        'gitSync.holdReleased',
        'gitSync.driftFound',
        'gitSync.driftHealed',
      ]);
    });

    it('keeps a pipeline undeployed that was taken off in an emergency', async () => {
      const { id } = await env.pipeline('web');
      await env.byHand(pipelineDeploying.undeploy, { pipelineId: id, hold: true, reason: 'it leaks' });
      await env.pass();
      expect(await env.pipeline('web')).to.include({ isDraft: true, deployedVersion: null });
      expect((await env.condition('web', 'Applied')).message).to.include('it leaks');
      expect((await holds())[0]).to.deep.include({ reason: 'it leaks' });
    });

    it('does not hold anything up that needs what is there', async () => {
      await rollBack();
      const rule = `apiVersion: headgate/v1\nkind: AlertRule\nmetadata: { name: r }\nspec: { pipelineRef: web, metric: pipeline_crashed, condition: eq, threshold: 1 }\n`;
      expect((await env.apply({ r: rule })).counts).to.include({ created: 1, refused: 0 });
    });

    it('blocks what needs what was never made', async () => {
      const rule = `apiVersion: headgate/v1\nkind: AlertRule\nmetadata: { name: r }\nspec: { pipelineRef: late, metric: pipeline_crashed, condition: eq, threshold: 1 }\n`;
      await env.apply({ late: idleManifest('late').replace('[ticks]', '[tick]') });
      await env.say(gitSyncWords.suspend, pipeline('late'));
      await env.apply({ late: idleManifest('late'), r: rule });
      expect(await env.condition('r', 'Applied')).to.include({ reason: 'Blocked' });
      await env.say(gitSyncWords.resume, pipeline('late'));
      expect((await env.pass()).counts).to.include({ created: 2 });
    });

    it('may be said before anything is wrong, and twice', async () => {
      for (let n = 0; n < 2; n += 1)
        await env.say(gitSyncHolds.hold, { ...pipeline('OTHER'), reason: `look ${n}` });
      expect((await holds()).map(({ reason }) => reason)).to.deep.equal(['look 1']);
      expect(
        (await refusal(env.say(gitSyncHolds.hold, { ...pipeline('nobody'), reason: 'x' }))).code,
      ).to.equal('NOT_FOUND');
    });
  });

  describe('suspend', () => {
    beforeEach(async () => {
      await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
    });

    it('leaves one object alone: no change, no healing, no deletion, until it is resumed', async () => {
      await env.say(gitSyncWords.suspend, { ...pipeline('Web'), reason: 'night shift' });
      await env.apply({ web: idleManifest('web', 'changed'), other: idleManifest('other', 'changed') });
      expect(await spec('web')).to.equal('');
      expect(await spec('other')).to.equal('changed');
      const condition = await env.condition('web', 'Applied');
      expect(condition).to.include({ status: 'False', reason: 'Suspended' });
      expect(condition.message).to.match(/^Suspended by Ada at .*: night shift: git leaves it alone$/);
      await env.apply({ web: null });
      expect(await env.living()).to.deep.equal(['other', 'web']);
      await env.say(gitSyncWords.resume, pipeline('web'));
      await env.pass();
      expect(await env.living()).to.deep.equal(['other']);
      expect(await env.audited()).to.deep.equal(['gitSync.suspended', 'gitSync.resumed']);
    });

    it('is refused where nothing is suspended, or half of a name was given', async () => {
      expect((await refusal(env.say(gitSyncWords.resume, pipeline('web')))).code).to.equal(
        'PRECONDITION_FAILED',
      );
      expect((await refusal(env.say(gitSyncWords.resume, {}))).code).to.equal('PRECONDITION_FAILED');
      expect((await refusal(env.say(gitSyncWords.suspend, { kind: 'Pipeline' }))).code).to.equal(
        'BAD_REQUEST',
      );
      await env.say(gitSyncWords.suspend, { reason: 'all of it' });
      expect(await env.binding()).to.deep.include({ suspendedBy: 'Ada', suspendReason: 'all of it' });
      expect((await refusal(env.say(gitSyncWords.suspend, {}))).code).to.equal('PRECONDITION_FAILED');
      await env.say(gitSyncWords.resume, {});
      expect(await env.binding()).to.deep.include({
        suspendedAt: null,
        suspendedBy: null,
        suspendReason: null,
      });
    });
  });

  describe('confirm a deletion', () => {
    it('deletes what headgate/prune: confirm keeps, and forgets the word', async () => {
      await env.apply({
        web: idleManifest('web', '', ', annotations: { headgate/prune: confirm }'),
        other: idleManifest('other'),
      });
      const early = await refusal(env.say(gitSyncWords.confirmPrune, pipeline('web')));
      expect(early.message).to.equal('"web" does not wait to be deleted');
      await env.apply({ web: null });
      await env.say(gitSyncWords.confirmPrune, pipeline('web'));
      expect((await env.pass()).counts).to.include({ deleted: 1 });
      expect(await env.living()).to.deep.equal(['other']);
      expect(await words()).to.deep.equal([]);
    });

    it('is about that deletion only: a manifest that comes back takes the word away', async () => {
      const text = idleManifest('web', '', ', annotations: { headgate/prune: confirm }');
      await env.apply({ web: text, other: idleManifest('other') });
      await env.apply({ web: null });
      await env.say(gitSyncWords.confirmPrune, pipeline('web'));
      await env.apply({ web: text });
      expect(await words()).to.deep.equal([]);
      await env.apply({ web: null });
      expect(await env.living()).to.deep.equal(['other', 'web']);
    });

    it('is as good as a commit on top after a rewritten history, for that object', async () => {
      const all = { web: idleManifest('web'), other: idleManifest('other'), third: idleManifest('third') };
      await env.apply(all);
      env.commit({ other: idleManifest('other') }, { orphan: true });
      await env.pass();
      await env.say(gitSyncWords.confirmPrune, pipeline('web'));
      await env.pass();
      expect(await env.living()).to.deep.equal(['other', 'third']);
    });

    it('is refused for headgate/prune: never', async () => {
      await env.apply({
        web: idleManifest('web', '', ', annotations: { headgate/prune: never }'),
        other: idleManifest('other'),
      });
      await env.apply({ web: null });
      expect((await refusal(env.say(gitSyncWords.confirmPrune, pipeline('web')))).message).to.match(
        /prune: never/,
      );
    });
  });

  describe('adopt', () => {
    const byHand = (name: string) =>
      insertPipeline(scene.db, env.id, {
        ...{ name, description: 'made by hand', nodeSelector: null, logLevel: 'info', drainSeconds: null },
        ...{ nodes: [], edges: [], globalConfig: {}, labels: {}, dependsOn: [] },
      });

    it('waits for the word where a manifest has merely the name, and keeps id and history then', async () => {
      const id = await byHand('Web');
      await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
      expect(await env.condition('web', 'Applied')).to.include({ status: 'False', reason: 'Conflict' });
      await env.say(gitSyncWords.adopt, pipeline('web'));
      const result = await env.pass();
      expect(result.report.join('\n')).to.match(/web: renamed from Web|is git's now/);
      expect(await env.pipeline('web')).to.include({ id, managedBy: 'git', version: 1, deployedVersion: 1 });
      expect(await words()).to.deep.equal([]);
      expect(await env.condition('web', 'Applied')).to.include({ status: 'True' });
      expect((await env.pass()).outcome).to.equal('unchanged');
      const again = await refusal(env.say(gitSyncWords.adopt, pipeline('web')));
      expect(again.code).to.equal('PRECONDITION_FAILED');
    });

    it('needs no word where the uid of the manifest is the id of the object, whatever its name', async () => {
      const id = await byHand('old');
      await env.apply({ web: idleManifest('new', '', `, uid: "${id}"`) });
      expect(await env.pipelines()).to.have.length(1);
      expect(await env.pipeline('new')).to.include({ id, managedBy: 'git', uid: id });
    });

    it('takes over a version that says the same, and makes none', async () => {
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

    it('is refused where there is nothing to adopt', async () => {
      await env.apply({ web: idleManifest('web') });
      expect((await refusal(env.say(gitSyncWords.adopt, pipeline('web')))).code).to.equal(
        'PRECONDITION_FAILED',
      );
      expect((await refusal(env.say(gitSyncWords.adopt, pipeline('nobody')))).code).to.equal('NOT_FOUND');
    });
  });

  describe('by policy', () => {
    it('prune: false keeps what left git, with the reason', async () => {
      await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
      await env.allow({ prune: false });
      await env.apply({ web: null });
      expect(await env.living()).to.deep.equal(['other', 'web']);
      expect(await env.condition('web', 'Applied')).to.include({ reason: 'PruneRefused' });
      await env.allow({});
      await env.pass();
      expect(await env.living()).to.deep.equal(['other']);
    });

    describe('selfHeal: false', () => {
      beforeEach(async () => {
        await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
        await env.allow({ selfHeal: false });
        await scene
          .db('pipelines')
          .where({ environment_id: env.id, name: 'web' })
          .update({ description: 'by hand' });
      });

      it('reports a change past git once, and leaves it', async () => {
        for (let n = 0; n < 3; n += 1) await env.pass();
        expect(await spec('web')).to.equal('by hand');
        expect(await env.condition('web', 'Applied')).to.include({ status: 'True', reason: 'Drifted' });
        expect(await env.audited()).to.deep.equal(['gitSync.driftFound']);
      });

      it('takes what is new in git all the same', async () => {
        await env.pass();
        await env.apply({ web: idleManifest('web', 'from git') });
        expect(await spec('web')).to.equal('from git');
        expect(await env.condition('web', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
      });

      it('puts it back once healing is allowed again', async () => {
        await env.pass();
        await env.allow({});
        await env.pass();
        expect(await spec('web')).to.equal('');
        expect(await env.audited()).to.deep.equal(['gitSync.driftFound', 'gitSync.driftHealed']);
      });
    });

    describe('owns', () => {
      const rule = `apiVersion: headgate/v1\nkind: AlertRule\nmetadata: { name: r }\nspec: { pipelineRef: web, metric: pipeline_crashed, condition: eq, threshold: 1 }\n`;
      const ruleRow = () =>
        scene.db('alert_rules').where({ environment_id: env.id, tombstoned_at: null }).first();

      it('leaves manifests of other kinds unread, and what git had of them to the UI as it is', async () => {
        await env.apply({ web: idleManifest('web'), r: rule });
        const { id } = await ruleRow();
        await env.allow({ owns: ['Pipeline'] });
        await env.pass();
        expect(await ruleRow()).to.include({ id, managed_by: 'ui', name: 'r' });
        expect(await env.condition('r', 'Applied')).to.include({ status: 'Unknown', reason: 'NotOwned' });
        expect(await env.manifest('r')).to.include({ objectId: null });
        expect(await env.audited()).to.deep.equal(['gitSync.orphaned']);
        await env.apply({ r: null });
        expect(await ruleRow(), 'gone from git').to.include({ id, managed_by: 'ui' });
        expect((await env.pass()).outcome).to.equal('unchanged');
      });

      it('leaves it to the UI also where its manifest is gone by then', async () => {
        await env.apply({ web: idleManifest('web'), r: rule });
        await env.allow({ owns: ['Pipeline'] });
        await env.apply({ r: null });
        expect(await ruleRow()).to.include({ managed_by: 'ui' });
        expect(await env.manifestNames()).to.deep.equal(['web']);
      });

      it('asks for a word before what went to the UI is taken back', async () => {
        await env.apply({ web: idleManifest('web'), r: rule });
        const { id } = await ruleRow();
        await env.allow({ owns: ['Pipeline'] });
        await env.pass();
        await env.allow({});
        await env.pass();
        expect(await env.condition('r', 'Applied')).to.include({ reason: 'Conflict' });
        await env.say(gitSyncWords.adopt, { kind: 'AlertRule', name: 'r' });
        await env.pass();
        expect(await ruleRow()).to.include({ id, managed_by: 'git' });
      });

      it('can be narrowed by the Environment manifest, from the next pass on', async () => {
        await env.apply({ web: idleManifest('web'), r: rule });
        env.repository.commit({
          [`${PRODUCTION.path}/environment.yaml`]:
            'apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: production }\nspec: { owns: [AlertRule] }\n',
        });
        expect((await env.pass()).again).to.equal(true);
        await env.pass();
        expect(await env.pipeline('web')).to.include({ managedBy: 'ui', deployedVersion: 1 });
        expect(await ruleRow()).to.include({ managed_by: 'git' });
        expect((await env.pass()).outcome).to.equal('unchanged');
      });
    });
  });
});
