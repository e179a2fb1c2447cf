import { expect } from 'chai';
import { gitSyncApprovals, gitSyncWords } from '../../../controller/delivery/bindings/index.ts';
import { insertPipeline } from '../../../controller/pipelines/lifecycle/store.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import type { PassResult } from '../../../reconcilers/git/pass.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { PRODUCTION } from '../../support/scenes/config-repository.ts';
import { type BoundEnvironment, ReconcileScene } from '../../support/scenes/reconcile.ts';

const said = (result: PassResult) => result.report.join('\n');
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
const all = (list: readonly string[], description = '') =>
  Object.fromEntries(list.map((name) => [name, idleManifest(name, description)]));
const none = (list: readonly string[]) => Object.fromEntries(list.map((name) => [name, null]));

describe('plans that wait', () => {
  let scene: ReconcileScene;
  let env: BoundEnvironment;
  before(async () => {
    scene = await ReconcileScene.open();
  });
  beforeEach(async () => {
    env = await scene.environment();
  });
  after(() => scene.close());

  const waiting = async () => {
    const { waitingPlan } = await env.binding();
    if (!waitingPlan) throw new Error('no plan waits');
    return waitingPlan;
  };
  const approve = async (hash?: string) =>
    env.say(gitSyncApprovals.approvePlan, { hash: hash ?? (await waiting()).hash });
  const refusal = (promise: Promise<unknown>): Promise<DomainError> =>
    promise.then(
      () => expect.fail('it went through'),
      (error: unknown) => {
        expect(error).to.be.instanceOf(DomainError);
        return error as DomainError;
      },
    );
  /** A policy of the Environment manifest, in a commit with other files. */
  const policy = (text: string) => ({
    [`${PRODUCTION.path}/environment.yaml`]: `apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: production }\nspec: ${text}\n`,
  });

  describe('over the guards', () => {
    beforeEach(async () => {
      await env.apply(all([...names(5), 'keep']));
      await env.allow({ maxDeletes: 3 });
    });

    it('are not applied at all, say so everywhere, and keep the commit before as the applied one', async () => {
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
      expect(said(result)).to.match(/nothing of this was applied/);
      expect(said(result)).to.match(/deletes 4 objects, and 3 may go in one pass/);
      expect(said(result)).to.match(/Headgate-Allow-Delete: 4/);
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
    });

    it('wait on from the same moment, and write nothing more, however often they are looked at', async () => {
      await env.apply(none(names(4)));
      const { hash, since } = await waiting();
      const before = await env.fingerprint();
      for (let n = 0; n < 2; n += 1) expect((await env.pass()).outcome).to.equal('guarded');
      expect(await waiting()).to.deep.include({ hash, since });
      expect(await env.fingerprint()).to.equal(before);
    });

    it('are applied once an ADMIN approves exactly them, and the approval is used up', async () => {
      await env.apply(none(names(4)));
      await approve();
      const result = await env.pass();
      expect(result.counts).to.include({ deleted: 4, waiting: 0 });
      expect(await env.living()).to.deep.equal(['keep', 'p4']);
      expect((await env.binding()).waitingPlan).to.equal(null);
      expect(await scene.db('git_approvals').where({ binding_id: env.bindingId })).to.deep.equal([]);
      expect(await env.audited()).to.deep.equal(['gitSync.planApproved']);
      // The very same deletions again.
      await env.apply(all(names(4)));
      await env.apply(none(names(4)));
      expect((await env.binding()).waitingPlan, 'waits again').to.not.equal(null);
    });

    it('are applied at a later commit that does the same, and at none that does anything else', async () => {
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

    it('are not applied by an old approval, once there was nothing left to approve', async () => {
      await env.apply(none(names(4)));
      await approve();
      await env.apply(all(names(4)));
      expect((await env.apply(none(names(4)))).outcome).to.equal('guarded');
    });

    it('cannot be approved under another hash, or where none waits', async () => {
      const idle = await refusal(approve('0'.repeat(32)));
      expect(idle).to.include({ code: 'PRECONDITION_FAILED', message: 'No plan waits for an approval here' });
      await env.apply(none(names(4)));
      const { hash } = await waiting();
      await env.apply({ p4: null });
      const late = await refusal(approve(hash));
      expect(late.message).to.equal('The plan has changed since: look at it again');
      expect((await env.pass()).outcome).to.equal('guarded');
    });

    it('are lifted by a commit that names as many deletions, and not by one that names fewer', async () => {
      env.commit(none(names(4)), { message: 'Clean up\n\nHeadgate-Allow-Delete: 3' });
      expect((await env.pass()).outcome).to.equal('guarded');
      env.repository.commit({ 'README.md': 'sure' }, { message: 'Sure\n\nHeadgate-Allow-Delete: 4' });
      expect((await env.pass()).counts).to.include({ deleted: 4 });
      expect((await env.binding()).waitingPlan).to.equal(null);
    });

    it('measure deletions in percent of what git owns here, too', async () => {
      await env.allow({ maxDeletes: null, maxDeletePercent: 50 });
      await env.apply(none(names(3)));
      expect(await env.living()).to.have.length(3);
      await env.apply(none(['p3', 'p4']));
      expect((await waiting()).guards[0]).to.include({ guard: 'maxDeletePercent', limit: 50, value: 66.7 });
    });

    it('go on where the process died in the middle of an approved one', async () => {
      await env.apply(none(names(5)));
      await approve();
      const stop = new AbortController();
      let done = 0;
      await env
        .pass({
          signal: stop.signal,
          execute: async (operation, ctx, input) => {
            const output = await scene.execute(operation, ctx, input);
            done += 1;
            if (done === 1) stop.abort(new Error('killed'));
            return output;
          },
        })
        .then(
          () => expect.fail('it went through'),
          () => undefined,
        );
      expect(await env.living()).to.have.length(5);
      expect((await env.pass({ remembering: false })).outcome).to.equal('applied');
      expect(await env.living()).to.deep.equal(['keep']);
      expect(await scene.db('git_approvals').where({ binding_id: env.bindingId })).to.deep.equal([]);
      expect((await env.pass()).outcome).to.equal('unchanged');
    });

    it('go on where it died after something was made, and stop again for what nobody has approved', async () => {
      await env.apply({
        ...none(names(4)),
        a: idleManifest('a'),
        b: idleManifest('b'),
        p4: idleManifest('p4', 'x'),
      });
      await approve();
      const killed = async () => {
        const stop = new AbortController();
        await env
          .pass({
            signal: stop.signal,
            batch: 1,
            remembering: false,
            execute: async (operation, ctx, input) => {
              const output = await scene.execute(operation, ctx, input);
              stop.abort(new Error('killed'));
              return output;
            },
          })
          .then(
            () => expect.fail('it went through'),
            () => undefined,
          );
      };
      await killed();
      expect(await env.living())
        .to.include('a')
        .and.not.include('b');
      env.commit({ more: idleManifest('more') });
      expect((await env.pass({ remembering: false })).outcome).to.equal('guarded');
      expect(await env.living())
        .to.include('p0')
        .and.not.include('more');
    });

    it('go on to their end however often it died, and the approval is used up then', async () => {
      await env.apply({ ...none(names(4)), a: idleManifest('a'), b: idleManifest('b') });
      await approve();
      for (let left = 5; left > 0; left -= 1) {
        const stop = new AbortController();
        await env
          .pass({
            signal: stop.signal,
            batch: 1,
            remembering: false,
            execute: async (operation, ctx, input) => {
              const output = await scene.execute(operation, ctx, input);
              if (left > 1) stop.abort(new Error('killed'));
              return output;
            },
          })
          .catch(() => undefined);
      }
      expect(await env.living()).to.deep.equal(['a', 'b', 'keep', 'p4']);
      expect((await env.binding()).waitingPlan).to.equal(null);
      expect(await scene.db('git_approvals').where({ binding_id: env.bindingId })).to.deep.equal([]);
    });

    it('count no deletions that are kept anyhow, since another manifest is refused', async () => {
      await insertPipeline(scene.db, env.id, {
        ...{
          name: 'mine',
          description: 'made by hand',
          nodeSelector: null,
          logLevel: 'info',
          drainSeconds: null,
        },
        ...{ nodes: [], edges: [], globalConfig: {}, labels: {}, dependsOn: [] },
      });
      const result = await env.apply({ ...none(names(4)), mine: idleManifest('mine') });
      expect(result.outcome).to.equal('partial');
      expect((await env.binding()).waitingPlan).to.equal(null);
      expect(await env.living()).to.include('p0');
      expect(await env.condition('p0', 'Applied')).to.include({ reason: 'PruneWaits' });
    });

    it('say nothing of a plan that only creates and changes', async () => {
      const result = await env.apply({ ...all(names(5), 'changed'), more: idleManifest('more') });
      expect(result.counts).to.include({ created: 1, changed: 5 });
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
      await env.allow({ maxNodeRestartPercent: 50 });
    });

    it('wait where what runs on most nodes would change', async () => {
      const changed = idleManifest('all').replace('interval: 1', 'interval: 2');
      const result = await env.apply({ all: changed });
      expect(result.outcome).to.equal('guarded');
      expect((await waiting()).guards).to.deep.include({
        guard: 'maxNodeRestartPercent',
        limit: 50,
        value: 100,
        exceeded: true,
        message: 'restarts or stops engines on 100 % of the 4 nodes, and 50 % may be touched in one pass',
      });
      await approve();
      expect((await env.pass()).counts).to.include({ changed: 1 });
    });

    it('do not count nodes that start something, or few, or words that no engine sees', async () => {
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
      await env.allow({ maxNodeRestartPercent: 50 });
      expect((await env.apply({ g: group('2') })).outcome).to.equal('guarded');
    });
  });

  describe('by the policy of a commit', () => {
    it('are judged by the one that was applied before, so that no commit widens what it does itself', async () => {
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

    it('hold as the commit before has it, where the manifest that says it is broken', async () => {
      env.repository.commit(policy('{ guards: { maxDeletes: 1 } }'));
      await env.apply(all(names(4)));
      env.repository.commit(policy('{ guards: { maxDeletes: many } }'));
      await env.pass();
      expect((await env.binding()).manifestPolicy).to.deep.equal({ guards: { maxDeletes: 1 } });
    });

    it('say beside the manifest what it tightens, and what of it counts for nothing', async () => {
      await env.allow({ maxDeletes: 3, prune: false });
      const sha = env.repository.commit(policy('{ sync: { prune: true }, guards: { maxDeletes: 1 } }'));
      const result = await env.apply(all(names(1)));
      const words =
        'Tightens guards.maxDeletes to 1. Ignored, since it would widen what the binding allows: sync.prune: true';
      expect(said(result)).to.include(`Environment production: holds from the next commit on. ${words}`);
      expect(await env.condition('production', 'Applied')).to.include({
        ...{ status: 'True', reason: 'Applied', message: words },
      });
      const line = () =>
        scene
          .db('git_manifests')
          .where({ binding_id: env.bindingId, kind: 'Environment' })
          .first('applied_commit', 'applied_hash', 'seen_hash');
      const first = await line();
      expect(first.applied_hash).to.equal(first.seen_hash);
      expect(first.applied_commit).to.not.equal(sha);
      expect(said(await env.pass())).to.match(/nothing to do/);
      expect(await line()).to.deep.equal(first);
      // The same words beside another binding.
      await env.allow({ maxDeletes: 1 });
      await env.pass();
      expect((await env.condition('production', 'Applied')).message).to.equal(
        'Tightens nothing: the binding is as strict already',
      );
    });

    it('do not hold, and say so, while the plan that they come with waits', async () => {
      await env.allow({ maxDeletes: 1 });
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

    it('hold on, and say so, while a plan waits by what they say', async () => {
      env.repository.commit(policy('{ guards: { maxDeletes: 1 } }'));
      await env.apply(all(names(3)));
      expect((await env.apply(none(names(2)))).outcome).to.equal('guarded');
      expect(await env.condition('production', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
    });

    it('do not hold, and say so, while a file that may be policy cannot be read', async () => {
      await env.apply(all(names(1)));
      env.repository.commit(policy('{ guards: { maxDeletes: 1 } }'));
      await env.apply({ broken: '- [ nonsense' });
      expect(await env.condition('production', 'Applied')).to.include({ status: 'False', reason: 'Blocked' });
      expect((await env.binding()).manifestPolicy).to.deep.equal({});
      await env.apply({ broken: null });
      expect(await env.condition('production', 'Applied')).to.include({ status: 'True', reason: 'Applied' });
    });

    it('are said of headgate.yaml, too, where it says anything of the policy', async () => {
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

    it('tell of it at once, and look again', async () => {
      await env.apply(all(names(1)));
      env.repository.commit(policy('{ sync: { selfHeal: false } }'));
      expect((await env.pass()).again).to.equal(true);
      expect((await env.pass()).again ?? false).to.equal(false);
    });
  });

  describe('of a missing or empty path', () => {
    it('delete once they are approved, and touch nothing before', async () => {
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
    const byHand = (name: string) =>
      insertPipeline(scene.db, env.id, {
        ...{ name, description: 'made by hand', nodeSelector: null, logLevel: 'info', drainSeconds: null },
        ...{ nodes: [], edges: [], globalConfig: {}, labels: {}, dependsOn: [] },
      });
    beforeEach(async () => {
      env = await scene.environment('sync', { first: true });
    });

    it('begin at once where the environment is empty', async () => {
      expect((await env.apply(all(names(2)))).counts).to.include({ created: 2 });
      expect((await env.binding()).begunAt).to.be.instanceOf(Date);
    });

    it('only look where the environment holds objects, until the plan is approved', async () => {
      await byHand('mine');
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
      await byHand('mine');
      env.repository.commit(policy('{}'));
      await env.pass();
      expect((await env.binding()).begunAt).to.be.instanceOf(Date);
    });

    it('do not begin with a tree that cannot be read', async () => {
      await byHand('mine');
      await env.apply({ broken: 'kind: Pipeline\n  nonsense' });
      expect((await env.binding()).begunAt).to.equal(null);
    });

    it('go on after a first pass that died in the middle', async () => {
      env.commit(all(names(3)));
      const stop = new AbortController();
      await env
        .pass({
          signal: stop.signal,
          batch: 1,
          execute: async (operation, ctx, input) => {
            const output = await scene.execute(operation, ctx, input);
            stop.abort(new Error('killed'));
            return output;
          },
        })
        .catch(() => undefined);
      expect(await env.living()).to.have.length(1);
      await env.pass({ remembering: false });
      expect(await env.living()).to.have.length(3);
    });
  });

  it('say nothing of an observing binding, which applies nothing anyhow', async () => {
    env = await scene.environment('observe');
    const result = await env.apply(all(names(2)));
    expect(result.outcome).to.equal('observed');
    expect(await env.living()).to.deep.equal([]);
    expect((await env.binding()).waitingPlan).to.equal(null);
    await refusal(env.say(gitSyncWords.confirmPrune, { kind: 'Pipeline', name: 'p0' }));
  });
});
