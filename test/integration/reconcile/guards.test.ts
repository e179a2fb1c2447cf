import { expect } from 'chai';
import { gitSyncApprovals, gitSyncOverrides } from '../../../controller/delivery/bindings/index.ts';
import { rejection } from '../../support/fixtures/fault-text.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { type BoundEnvironment, reportText } from '../../support/scenes/bound-environment.ts';
import { PRODUCTION } from '../../support/scenes/config-repository.ts';
import { useReconcileScene } from '../../support/scenes/reconcile.ts';

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
const all = (list: readonly string[], description = '') =>
  Object.fromEntries(list.map((name) => [name, idleManifest(name, description)]));
const none = (list: readonly string[]) => Object.fromEntries(list.map((name) => [name, null]));

describe('plans that wait', () => {
  const scene = useReconcileScene();
  let env: BoundEnvironment;
  beforeEach(async () => {
    env = await scene.environment();
  });

  const waiting = async () => {
    const { waitingPlan } = await env.binding();
    if (!waitingPlan) throw new Error('no plan waits');
    return waitingPlan;
  };
  const approve = async (hash?: string) =>
    env.execute(gitSyncApprovals.approvePlan, { hash: hash ?? (await waiting()).hash });
  const approvals = () => scene.db('git_approvals').where({ binding_id: env.bindingId });
  /** An Environment manifest with this policy, for a commit with other files. */
  const policy = (text: string) => ({
    [`${PRODUCTION.path}/environment.yaml`]: `apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: production }\nspec: ${text}\n`,
  });

  describe('over the guards', () => {
    beforeEach(async () => {
      await env.apply(all([...names(5), 'keep']));
      await env.setPolicy({ maxDeletes: 3 });
    });

    it('change nothing, appear in report, conditions, binding and job, and are recorded once', async () => {
      const before = await env.binding();
      const pipelines = await env.pipelines();
      const sha = env.commit({
        ...none(names(4)),
        keep: idleManifest('keep', 'changed'),
        fresh: idleManifest('fresh'),
      });
      const result = await env.pass();
      expect(result.outcome).to.equal('guarded');
      expect(await env.pipelines()).to.deep.equal(pipelines);
      expect(reportText(result))
        .to.match(/nothing of this was applied/)
        .and.match(/Headgate-Allow-Delete: 4/);
      for (const name of ['p0', 'keep', 'fresh'])
        expect(await env.condition(name, 'Applied'), name).to.include({ status: 'False', reason: 'Guarded' });
      expect(await env.condition('p4', 'Applied')).to.include({ status: 'True' });
      const binding = await env.binding();
      expect(binding.headCommit?.sha).to.equal(sha);
      expect(binding.appliedCommit).to.deep.equal(before.appliedCommit);
      expect(
        binding.waitingPlan?.guards.map(({ guard, limit, value }) => [guard, limit, value]),
      ).to.deep.equal([['maxDeletes', 3, 4]]);
      const job = await scene.db('git_jobs').where({ binding_id: env.bindingId, outcome: 'guarded' }).first();
      expect(job).to.include({ status: 'completed', plan_hash: binding.waitingPlan?.hash });
      const written = await env.fingerprint();
      for (let n = 0; n < 2; n += 1) expect((await env.pass()).outcome).to.equal('guarded');
      expect((await waiting()).since).to.deep.equal(binding.waitingPlan?.since);
      expect(await env.fingerprint()).to.equal(written);
    });

    it('are applied after an approval of exactly them, which is used up', async () => {
      await env.apply(none(names(4)));
      await approve();
      const result = await env.pass();
      expect(result.counts).to.include({ deleted: 4, waiting: 0 });
      expect(await env.living()).to.deep.equal(['keep', 'p4']);
      expect((await env.binding()).waitingPlan).to.equal(null);
      expect(await approvals()).to.deep.equal([]);
      expect(await env.audited()).to.deep.equal(['gitSync.planApproved']);
      // The very same deletions again.
      await env.apply(all(names(4)));
      await env.apply(none(names(4)));
      expect((await env.binding()).waitingPlan, 'waits again').to.not.equal(null);
    });

    it('are applied at a later commit with the same plan, and at none with another', async () => {
      await env.apply(none(names(4)));
      await approve();
      env.repository.commit({ 'README.md': 'words' });
      env.commit({ other: idleManifest('other') });
      expect((await env.pass()).outcome, 'another plan').to.equal('guarded');
      expect(await env.living())
        .to.include('p0')
        .and.not.include('other');
      env.commit({ other: null });
      expect((await env.pass()).counts).to.include({ deleted: 4 });
    });

    it('are not applied by an approval from before an empty plan', async () => {
      await env.apply(none(names(4)));
      await approve();
      await env.apply(all(names(4)));
      expect((await env.apply(none(names(4)))).outcome).to.equal('guarded');
    });

    it('cannot be approved under another hash, or where none waits', async () => {
      const idle = await rejection(approve('0'.repeat(32)));
      expect(idle).to.include({ code: 'PRECONDITION_FAILED', message: 'No plan waits for an approval here' });
      await env.apply(none(names(4)));
      const { hash } = await waiting();
      await env.apply({ p4: null });
      const late = await rejection(approve(hash));
      expect(late.message).to.equal('The plan has changed; review it again');
      expect((await env.pass()).outcome).to.equal('guarded');
    });

    it('are applied by a commit that allows as many deletions, and not by one that allows fewer', async () => {
      env.commit(none(names(4)), { message: 'Clean up\n\nHeadgate-Allow-Delete: 3' });
      expect((await env.pass()).outcome).to.equal('guarded');
      env.repository.commit({ 'README.md': 'sure' }, { message: 'Sure\n\nHeadgate-Allow-Delete: 4' });
      expect((await env.pass()).counts).to.include({ deleted: 4 });
      expect((await env.binding()).waitingPlan).to.equal(null);
    });

    it('wait for a percentage of what git owns here, too', async () => {
      await env.setPolicy({ maxDeletes: null, maxDeletePercent: 50 });
      await env.apply(none(names(3)));
      expect(await env.living()).to.have.length(3);
      await env.apply(none(['p3', 'p4']));
      expect((await waiting()).guards[0]).to.include({ guard: 'maxDeletePercent', limit: 50, value: 66.7 });
    });

    it('continue after a kill, and wait again for what nobody has approved', async () => {
      await env.apply({ ...none(names(4)), a: idleManifest('a'), b: idleManifest('b') });
      await approve();
      await env.killedPass({ batch: 1, remembering: false });
      expect(await env.living())
        .to.include('a')
        .and.not.include('b');
      env.commit({ more: idleManifest('more') });
      expect((await env.pass({ remembering: false })).outcome).to.equal('guarded');
      expect(await env.living())
        .to.include('p0')
        .and.not.include('more');
    });

    it('end after any number of kills, and the approval is used up then', async () => {
      await env.apply({ ...none(names(4)), a: idleManifest('a'), b: idleManifest('b') });
      await approve();
      for (let kills = 0; kills < 4; kills += 1) await env.killedPass({ batch: 1, remembering: false });
      await env.pass({ batch: 1, remembering: false });
      expect(await env.living()).to.deep.equal(['a', 'b', 'keep', 'p4']);
      expect((await env.binding()).waitingPlan).to.equal(null);
      expect(await approvals()).to.deep.equal([]);
      expect((await env.pass()).outcome).to.equal('unchanged');
    });

    it('count no deletions that are kept for the sake of a refused manifest', async () => {
      await env.insertPipeline('mine');
      const result = await env.apply({ ...none(names(4)), mine: idleManifest('mine') });
      expect(result.outcome).to.equal('partial');
      expect((await env.binding()).waitingPlan).to.equal(null);
      expect(await env.living()).to.include('p0');
      expect(await env.condition('p0', 'Applied')).to.include({ reason: 'PruneWaits' });
    });
  });

  describe('over the share of nodes that restart', () => {
    const node = (name: string, labels: object) =>
      scene.db('nodes').insert({
        id: `${env.id} ${name}`,
        environment_id: env.id,
        name,
        host: name,
        ui_labels: JSON.stringify(labels),
        token_hash: 'none',
      });
    beforeEach(async () => {
      for (const name of ['a', 'b', 'c', 'd']) await node(name, name === 'a' ? { role: 'edge' } : {});
      await env.apply({
        all: idleManifest('all'),
        edge: `${idleManifest('edge')}  nodeSelector: { role: edge }\n`,
      });
      await env.setPolicy({ maxNodeRestartPercent: 50 });
    });

    it('wait where most nodes would restart', async () => {
      const changed = idleManifest('all').replace('interval: 1', 'interval: 2');
      const result = await env.apply({ all: changed });
      expect(result.outcome).to.equal('guarded');
      const [guard] = (await waiting()).guards.filter(({ exceeded }) => exceeded);
      expect(guard).to.include({ guard: 'maxNodeRestartPercent', limit: 50, value: 100 });
      await approve();
      expect((await env.pass()).counts).to.include({ changed: 1 });
    });

    it('do not count few nodes, nodes that only start an engine, or changes that no engine sees', async () => {
      const edge = `${idleManifest('edge').replace('interval: 1', 'interval: 2')}  nodeSelector: { role: edge }\n`;
      expect((await env.apply({ edge })).counts).to.include({ changed: 1 });
      expect((await env.apply({ all: idleManifest('all', 'described') })).counts).to.include({ changed: 1 });
      expect((await env.apply({ more: idleManifest('more') })).counts).to.include({ created: 1 });
    });

    it('count a node that stops because its group gives it other labels', async () => {
      await scene.db('git_bindings').where({ id: env.bindingId }).update({ policy: '{}' });
      const group = (label: string) =>
        `apiVersion: headgate/v1\nkind: NodeGroup\nmetadata: { name: everyone }\nspec: { criteria: {}, labelTemplate: { ring: "${label}" } }\n`;
      await env.apply({ g: group('1'), all: `${idleManifest('all')}  nodeSelector: { ring: "1" }\n` });
      await env.setPolicy({ maxNodeRestartPercent: 50 });
      expect((await env.apply({ g: group('2') })).outcome).to.equal('guarded');
    });
  });

  describe('by the policy of a commit', () => {
    it('are measured by the policy that was applied before, so that no commit widens its own', async () => {
      env.repository.commit(policy('{ guards: { maxDeletes: 1 } }'));
      await env.apply(all(names(4)));
      expect((await env.binding()).manifestPolicy).to.deep.equal({ guards: { maxDeletes: 1 } });
      env.repository.commit(policy('{ guards: { maxDeletes: 9 } }'));
      await env.apply(none(names(2)));
      expect((await waiting()).guards[0]).to.include({ guard: 'maxDeletes', limit: 1 });
      await approve();
      expect((await env.pass()).counts).to.include({ deleted: 2 });
      expect((await env.binding()).manifestPolicy).to.deep.equal({ guards: { maxDeletes: 9 } });
    });

    it('keep the last policy while its manifest is broken', async () => {
      env.repository.commit(policy('{ guards: { maxDeletes: 1 } }'));
      await env.apply(all(names(4)));
      env.repository.commit(policy('{ guards: { maxDeletes: many } }'));
      await env.pass();
      expect((await env.binding()).manifestPolicy).to.deep.equal({ guards: { maxDeletes: 1 } });
    });

    it('have what the manifest tightens, and what of it is ignored, in its condition', async () => {
      await env.setPolicy({ maxDeletes: 3, prune: false });
      const sha = env.repository.commit(policy('{ sync: { prune: true }, guards: { maxDeletes: 1 } }'));
      const result = await env.apply(all(names(1)));
      const message =
        'Tightens guards.maxDeletes to 1. Ignored, since it would widen what the binding allows: sync.prune: true';
      expect(reportText(result)).to.include(
        `Environment production: holds from the next commit on. ${message}`,
      );
      expect(await env.condition('production', 'Applied')).to.include({
        ...{ status: 'True', reason: 'Applied', message },
      });
      const line = () =>
        scene
          .db('git_manifests')
          .where({ binding_id: env.bindingId, kind: 'Environment' })
          .first('applied_commit', 'applied_hash', 'seen_hash');
      const first = await line();
      expect(first.applied_hash).to.equal(first.seen_hash);
      expect(first.applied_commit).to.not.equal(sha);
      expect(reportText(await env.pass())).to.match(/nothing to do/);
      expect(await line()).to.deep.equal(first);
      // The same manifest under another binding.
      await env.setPolicy({ maxDeletes: 1 });
      await env.pass();
      expect((await env.condition('production', 'Applied')).message).to.equal(
        'Tightens nothing: the binding is as strict already',
      );
    });

    it('do not hold while the plan of their commit waits', async () => {
      await env.setPolicy({ maxDeletes: 1 });
      await env.apply(all(names(3)));
      env.repository.commit(policy('{ sync: { prune: false } }'));
      await env.apply(none(names(2)));
      expect(await env.condition('production', 'Applied')).to.include({
        ...{ status: 'False', reason: 'Guarded' },
      });
      await approve();
      await env.pass();
      expect(await env.condition('production', 'Applied')).to.include({
        ...{ status: 'True', message: 'Tightens sync.prune to false' },
      });
    });

    it('hold while a plan waits because of them', async () => {
      env.repository.commit(policy('{ guards: { maxDeletes: 1 } }'));
      await env.apply(all(names(3)));
      expect((await env.apply(none(names(2)))).outcome).to.equal('guarded');
      expect(await env.condition('production', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
    });

    it('do not hold while a file that may be policy cannot be read', async () => {
      await env.apply(all(names(1)));
      env.repository.commit(policy('{ guards: { maxDeletes: 1 } }'));
      await env.apply({ broken: '- [ nonsense' });
      expect(await env.condition('production', 'Applied')).to.include({ status: 'False', reason: 'Blocked' });
      expect((await env.binding()).manifestPolicy).to.deep.equal({});
      await env.apply({ broken: null });
      expect(await env.condition('production', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
    });

    it('may be in headgate.yaml, too', async () => {
      const root = (spec: string) => ({
        'headgate.yaml': `apiVersion: headgate/v1\nkind: Repository\nmetadata: { name: config }\nspec: ${spec}\n`,
      });
      env.repository.commit({
        ...root('{ formatVersion: 1, guards: { maxDeletes: 2 }, sync: { selfHeal: false } }'),
        ...policy('{ guards: { maxDeletes: 1 } }'),
      });
      await env.apply(all(names(1)));
      expect((await env.condition('config', 'Applied')).message).to.equal(
        'Tightens sync.selfHeal to false. The Environment manifest says otherwise: guards.maxDeletes',
      );
      env.repository.commit(root('{ formatVersion: 1 }'));
      await env.pass();
      expect(await env.manifestNames()).to.deep.equal(['p0', 'production']);
      expect((await env.binding()).manifestPolicy).to.deep.equal({ guards: { maxDeletes: 1 } });
    });

    it('ask for another pass at once', async () => {
      await env.apply(all(names(1)));
      env.repository.commit(policy('{ sync: { selfHeal: false } }'));
      expect((await env.pass()).requeue).to.equal(true);
      expect((await env.pass()).requeue ?? false).to.equal(false);
    });
  });

  describe('of a missing or empty path', () => {
    it('delete after the approval, and nothing before', async () => {
      await env.apply(all(names(2)));
      env.repository.commit({
        ...Object.fromEntries(names(2).map((name) => [`${PRODUCTION.path}/pipelines/${name}.yaml`, null])),
        'README.md': 'x',
      });
      await env.pass();
      expect(await env.living()).to.have.length(2);
      expect((await waiting()).guards.map(({ guard }) => guard)).to.deep.equal(['missingPath']);
      await approve();
      expect((await env.pass()).counts).to.include({ deleted: 2 });
      expect((await env.binding()).waitingPlan).to.equal(null);
    });
  });

  describe('for the first time', () => {
    beforeEach(async () => {
      env = await scene.environment('sync', { first: true });
    });

    it('apply at once where the environment is empty', async () => {
      expect((await env.apply(all(names(2)))).counts).to.include({ created: 2 });
      expect((await env.binding()).begunAt).to.be.instanceOf(Date);
    });

    it('wait where the environment holds objects, until the plan is approved', async () => {
      await env.insertPipeline('mine');
      const result = await env.apply(all(names(2)));
      expect(result.outcome).to.equal('guarded');
      expect(await env.living()).to.deep.equal(['mine']);
      expect(await env.binding()).to.deep.include({ begunAt: null });
      expect((await waiting()).guards.map(({ guard }) => guard)).to.deep.equal(['firstPlan']);
      await approve();
      expect((await env.pass()).counts).to.include({ created: 2 });
      expect((await env.binding()).begunAt).to.be.instanceOf(Date);
      expect((await env.apply({ p2: idleManifest('p2') })).counts).to.include({ created: 1 });
    });

    it('begin with an empty plan', async () => {
      await env.insertPipeline('mine');
      env.repository.commit(policy('{}'));
      await env.pass();
      expect((await env.binding()).begunAt).to.be.instanceOf(Date);
    });

    it('do not begin with a tree that cannot be read', async () => {
      await env.insertPipeline('mine');
      await env.apply({ broken: 'kind: Pipeline\n  nonsense' });
      expect((await env.binding()).begunAt).to.equal(null);
    });

    it('continue after a first pass that died in the middle', async () => {
      env.commit(all(names(3)));
      await env.killedPass({ batch: 1 });
      expect(await env.living()).to.have.length(1);
      await env.pass({ remembering: false });
      expect(await env.living()).to.have.length(3);
    });
  });

  it('do not exist in the mode observe', async () => {
    env = await scene.environment('observe');
    const result = await env.apply(all(names(2)));
    expect(result.outcome).to.equal('observed');
    expect(await env.living()).to.deep.equal([]);
    expect((await env.binding()).waitingPlan).to.equal(null);
    await rejection(env.execute(gitSyncOverrides.confirmPrune, { kind: 'Pipeline', name: 'p0' }));
  });
});
