/** Pushes, edits past git, words of operators and passes in any order: once all is said, the database is what git says. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  gitSyncApprovals,
  gitSyncHolds,
  gitSyncOverrides,
} from '../../../controller/delivery/bindings/index.ts';
import { insertPipeline } from '../../../controller/pipelines/lifecycle/store.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { longProperty } from '../../support/harness/long-property.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { useReconcileScene } from '../../support/scenes/reconcile.ts';

const NAMES = ['a', 'b', 'c', 'd'];

type Step =
  | { do: 'push'; name: string; version: number }
  | { do: 'delete' | 'change by hand' | 'delete by hand' | 'make by hand'; name: string }
  | { do: 'hold' | 'suspend' | 'resume' | 'adopt' | 'confirm'; name: string }
  | { do: 'release' | 'approve' | 'pass' | 'restart' | 'rewrite' }
  | { do: 'limit'; maxDeletes: number };

const name = fc.constantFrom(...NAMES);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('push' as const), name, version: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('change by hand' as const, 'delete by hand' as const, 'make by hand' as const),
      name,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'hold' as const,
        'suspend' as const,
        'resume' as const,
        'adopt' as const,
        'confirm' as const,
      ),
      name,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'release' as const,
        'approve' as const,
        'pass' as const,
        'restart' as const,
        'rewrite' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), maxDeletes: fc.nat(2) }) },
);

describe('words, pushes and edits in any order', () => {
  const scene = useReconcileScene();

  /** What may be refused is refused by the state that there is; anything else is a fault. */
  async function tried(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }

  async function take(env: BoundEnvironment, tree: Map<string, string>, one: Step): Promise<void> {
    const row = (of: string) =>
      scene.db('pipelines').where({ environment_id: env.id, name: of, tombstoned_at: null });
    switch (one.do) {
      case 'push':
        tree.set(one.name, idleManifest(one.name, `version ${one.version}`));
        env.commit({ [one.name]: tree.get(one.name) ?? null });
        return;
      case 'delete':
        if (!tree.delete(one.name)) return;
        env.commit({ [one.name]: null });
        return;
      case 'rewrite':
        env.commit(Object.fromEntries(tree), { orphan: true });
        return;
      case 'change by hand':
        await row(one.name).update({ description: 'by hand' });
        return;
      case 'delete by hand':
        await row(one.name).delete();
        return;
      case 'make by hand':
        if (await row(one.name).first()) return;
        await insertPipeline(scene.db, env.id, {
          ...{
            name: one.name,
            description: 'by hand',
            nodeSelector: null,
            logLevel: 'info',
            drainSeconds: null,
          },
          ...{ nodes: [], edges: [], globalConfig: {}, labels: {}, dependsOn: [] },
        });
        return;
      case 'hold':
        return tried(env.execute(gitSyncHolds.hold, { kind: 'Pipeline', name: one.name, reason: 'x' }));
      case 'suspend':
        return tried(env.execute(gitSyncOverrides.suspend, { kind: 'Pipeline', name: one.name }));
      case 'resume':
        return tried(env.execute(gitSyncOverrides.resume, { kind: 'Pipeline', name: one.name }));
      case 'adopt':
        return tried(env.execute(gitSyncOverrides.adopt, { kind: 'Pipeline', name: one.name }));
      case 'confirm':
        return tried(env.execute(gitSyncOverrides.confirmPrune, { kind: 'Pipeline', name: one.name }));
      case 'release':
        await releaseOne(env);
        return;
      case 'approve':
        await approve(env);
        return;
      case 'limit':
        return env.setPolicy({ maxDeletes: one.maxDeletes });
      case 'pass':
      case 'restart':
        await checkedPass(env, one.do === 'pass');
    }
  }

  /** While a plan waits and nobody approved it, nothing is deleted. */
  async function checkedPass(env: BoundEnvironment, remembering: boolean): Promise<void> {
    const approvals: string[] = await scene
      .db('git_approvals')
      .where({ binding_id: env.bindingId })
      .pluck('plan_hash');
    const before = await env.pipelines();
    const result = await env.pass({ remembering });
    if (result.outcome !== 'guarded') return;
    expect(await env.pipelines(), 'a guarded pass has changed something').to.deep.equal(before);
    const { waitingPlan } = await env.binding();
    expect(approvals).to.not.include(waitingPlan?.hash);
  }

  async function releaseOne(env: BoundEnvironment): Promise<boolean> {
    const [hold] = (await env.execute(gitSyncHolds.holds, {})).holds;
    if (hold) await env.execute(gitSyncHolds.releaseHold, { id: hold.id });
    return hold !== undefined;
  }

  async function approve(env: BoundEnvironment): Promise<void> {
    const { waitingPlan } = await env.binding();
    if (waitingPlan) await env.execute(gitSyncApprovals.approvePlan, { hash: waitingPlan.hash });
  }

  /** Takes every word back, gives every word that is waited for. */
  async function settle(env: BoundEnvironment, tree: Map<string, string>): Promise<void> {
    while (await releaseOne(env));
    for (const one of NAMES) await take(env, tree, { do: 'resume', name: one });
    tree.set('z', idleManifest('z'));
    env.commit({ z: idleManifest('z') });
    for (let n = 0; n < 6; n += 1) {
      await checkedPass(env, n % 2 === 0);
      for (const one of NAMES) {
        await take(env, tree, { do: 'adopt', name: one });
        await take(env, tree, { do: 'confirm', name: one });
      }
      await approve(env);
    }
  }

  it('ends as git says', async function () {
    this.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const env = await scene.environment();
        const tree = new Map<string, string>();
        await take(env, tree, { do: 'push', name: 'a', version: 1 });
        await checkedPass(env, true);
        for (const one of steps) await take(env, tree, one);
        await settle(env, tree);
        const described = (await env.pipelines())
          .filter((one) => one.managedBy === 'git' && !one.tombstoned)
          .map((one) => [one.name, one.description, one.deployedVersion === one.version]);
        const wanted = [...tree]
          .map(([key, text]) => [key, /description: "(.*)"/.exec(text)?.[1] ?? '', true])
          .sort();
        expect(described).to.deep.equal(wanted);
        expect(await env.pass({ remembering: false })).to.include({ outcome: 'unchanged' });
        const before = await env.fingerprint();
        await env.pass();
        expect(await env.fingerprint()).to.equal(before);
        expect((await env.binding()).waitingPlan).to.equal(null);
        expect(
          await scene.db('object_overrides').where({ binding_id: env.bindingId }),
          'words',
        ).to.deep.equal([]);
        env.repository.remove();
      }),
      longProperty(5),
    );
  });
});
