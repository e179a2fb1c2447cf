/** Plans where operators, policies and objects of the UI have a say. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  acts,
  type Change,
  makePlan,
  type Plan,
  type PlanInput,
  type Recorded,
} from '../../../../reconcilers/git/plan/plan.ts';
import {
  NO_OPERATOR_INPUT,
  type OperatorInput,
  operatorInputOf,
  type UiObject,
} from '../../../../reconcilers/git/read/overrides.ts';
import type { DesiredManifest } from '../../../../reconcilers/source/index.ts';
import { DEFAULT_POLICY, type GitPolicy } from '../../../../schemas/api/delivery/git-policy.ts';
import {
  appliedRecord,
  desiredManifest,
  desiredState,
  sourceProblem,
} from '../../../support/fixtures/desired.ts';

const at = new Date(0);
const word = (name: string, which: 'adopt' | 'suspend' | 'prune') => ({
  kind: 'Pipeline',
  nameKey: name,
  action: which,
  reason: '',
  by: 'Ada',
  at,
});
const hold = (manifest: DesiredManifest, name = manifest.nameKey) => ({
  id: `hold of ${name}`,
  kind: manifest.kind,
  nameKey: name,
  name,
  specHash: manifest.hash,
  reason: '',
  by: 'Ada',
  at,
});
const said = (more: Partial<Parameters<typeof operatorInputOf>[0]>): OperatorInput =>
  operatorInputOf({ overrides: [], holds: [], approvals: [], ...more });
const uiObject = (name: string, more: Partial<UiObject> = {}): UiObject => ({
  kind: 'Pipeline',
  id: `ui ${name}`,
  name,
  nameKey: name.toLowerCase(),
  uid: null,
  ...more,
});

const plan = (
  manifests: readonly DesiredManifest[],
  recorded: readonly Recorded[],
  more: Partial<PlanInput> = {},
): Plan =>
  makePlan({ desired: desiredState(manifests), recorded, descends: true, allowedDeletes: 0, ...more });
const nameOf = (change: Change) => ('manifest' in change ? change.manifest.name : change.previous.name);
const told = ({ changes }: Plan) =>
  changes.map((change) =>
    change.action === 'keep'
      ? `keep ${nameOf(change)}: ${change.reason}`
      : `${change.action} ${nameOf(change)}`,
  );

const web = desiredManifest({ name: 'web' });
const changed = desiredManifest({ name: 'web', spec: { description: 'changed' } });
const orders = desiredManifest({ name: 'orders' });
const renamed = desiredManifest({ name: 'shop', previousName: 'web' });

describe('a plan with overrides', () => {
  const gone = appliedRecord(web);
  const confirmed = { ...gone, prunePolicy: 'confirm' as const };
  const rows: [
    reason: string,
    manifests: DesiredManifest[],
    recorded: Recorded[],
    more: Partial<PlanInput>,
    expected: string[],
  ][] = [
    [
      'the very spec is held',
      [changed],
      [gone],
      { operatorInput: said({ holds: [hold(changed)] }) },
      ['held web'],
    ],
    [
      'another spec is held',
      [changed],
      [gone],
      { operatorInput: said({ holds: [hold(web)] }) },
      ['update web'],
    ],
    [
      'the held one was renamed in git',
      [renamed],
      [gone],
      { operatorInput: said({ holds: [hold(web)] }) },
      ['held shop'],
    ],
    [
      'a held one has drifted',
      [web],
      [appliedRecord(web, { objectHash: null })],
      { operatorInput: said({ holds: [hold(web)] }) },
      ['held web'],
    ],
    [
      'it is suspended',
      [changed],
      [gone],
      { operatorInput: said({ overrides: [word('web', 'suspend')] }) },
      ['suspended web'],
    ],
    [
      'it is suspended and left git',
      [orders],
      [gone, appliedRecord(orders)],
      { operatorInput: said({ overrides: [word('web', 'suspend')] }) },
      ['none orders', 'keep web: suspended'],
    ],
    [
      'a confirmed deletion',
      [orders],
      [confirmed, appliedRecord(orders)],
      { operatorInput: said({ overrides: [word('web', 'prune')] }) },
      ['none orders', 'prune web'],
    ],
    [
      'a confirmed deletion after a rewritten history',
      [orders],
      [gone, appliedRecord(orders)],
      { descends: false, operatorInput: said({ overrides: [word('web', 'prune')] }) },
      ['none orders', 'prune web'],
    ],
    [
      'a confirmed deletion while a manifest is broken',
      [orders],
      [confirmed, appliedRecord(orders)],
      {
        desired: desiredState([orders], { problems: [sourceProblem()] }),
        operatorInput: said({ overrides: [word('web', 'prune')] }),
      },
      ['none orders', 'keep web: broken-manifests'],
    ],
    [
      'a confirmed deletion of one that is never deleted',
      [orders],
      [{ ...gone, prunePolicy: 'never' }, appliedRecord(orders)],
      { operatorInput: said({ overrides: [word('web', 'prune')] }) },
      ['none orders', 'keep web: never'],
    ],
    [
      'the policy deletes nothing',
      [orders],
      [gone, appliedRecord(orders)],
      {
        policy: { ...DEFAULT_POLICY, prune: false },
        operatorInput: said({ overrides: [word('web', 'prune')] }),
      },
      ['none orders', 'keep web: no-prune'],
    ],
    ['a namesake of the UI is there', [web], [], { ui: [uiObject('Web')] }, ['conflict web']],
    [
      'a namesake of the UI may be adopted',
      [web],
      [],
      { ui: [uiObject('Web')], operatorInput: said({ overrides: [word('web', 'adopt')] }) },
      ['adopt web'],
    ],
    [
      'the uid is the id of one of the UI',
      [desiredManifest({ name: 'web', uid: 'ui old' })],
      [],
      { ui: [uiObject('old')] },
      ['adopt web'],
    ],
    [
      'the uid is that of one of the UI, and another manifest has its name',
      [desiredManifest({ name: 'b', uid: 'U1' }), desiredManifest({ name: 'a' })],
      [],
      { ui: [uiObject('a', { uid: 'U1' })] },
      ['adopt b', 'create a'],
    ],
    [
      'two manifests claim one object of the UI, by its id and by its uid',
      [desiredManifest({ name: 'b', uid: 'U1' }), desiredManifest({ name: 'c', uid: 'ui a' })],
      [],
      { ui: [uiObject('a', { uid: 'U1' })] },
      ['adopt b', 'create c'],
    ],
    [
      'it was deleted past git, and the UI has one of its name now',
      [web],
      [appliedRecord(web, { objectName: null, objectHash: null, objectDeployed: null })],
      { ui: [uiObject('web')] },
      ['conflict web'],
    ],
    [
      'the UI has a namesake of another kind',
      [web],
      [],
      { ui: [uiObject('web', { kind: 'NodeGroup' })] },
      ['create web'],
    ],
    [
      'the database was changed and is not healed',
      [web],
      [appliedRecord(web, { objectHash: null })],
      { policy: { ...DEFAULT_POLICY, selfHeal: false } },
      ['drifted web'],
    ],
    [
      'the database was changed, and git has a newer spec',
      [changed],
      [appliedRecord(web, { objectHash: null })],
      { policy: { ...DEFAULT_POLICY, selfHeal: false } },
      ['update web'],
    ],
    [
      'its kind is not owned any more',
      [web],
      [gone],
      { policy: { ...DEFAULT_POLICY, owns: ['AlertRule'] } },
      ['ignore web', 'orphan web'],
    ],
    [
      'one left git while another has a namesake of the UI',
      [orders],
      [gone],
      { ui: [uiObject('orders')] },
      ['conflict orders', 'keep web: broken-manifests'],
    ],
    [
      'one left git while another, which is as it was, names what is not there',
      [orders],
      [gone, appliedRecord(orders)],
      { dangling: new Map([[orders, []]]) },
      ['none orders', 'keep web: broken-manifests'],
    ],
    [
      'one left git while a new one names what is not there',
      [orders],
      [gone],
      { dangling: new Map([[orders, []]]) },
      ['create orders', 'keep web: broken-manifests'],
    ],
    [
      'one left git while another waits for one that is suspended before it was made',
      [orders, desiredManifest({ name: 'shop', spec: { dependsOn: ['orders'] } })],
      [gone],
      { operatorInput: said({ overrides: [word('orders', 'suspend')] }) },
      ['create shop', 'suspended orders', 'keep web: broken-manifests'],
    ],
    [
      'one left git while a suspended one names what is not there',
      [orders],
      [gone, appliedRecord(orders)],
      {
        dangling: new Map([[orders, []]]),
        operatorInput: said({ overrides: [word('orders', 'suspend')] }),
      },
      ['suspended orders', 'prune web'],
    ],
    [
      'its kind is not owned any more and it left git',
      [],
      [gone],
      { policy: { ...DEFAULT_POLICY, owns: ['AlertRule'] } },
      ['orphan web'],
    ],
  ];
  for (const [reason, manifests, recorded, more, expected] of rows) {
    it(`says "${expected.join('", "')}" where ${reason}`, () => {
      expect(told(plan(manifests, recorded, more))).to.deep.equal(expected);
    });
  }

  it('deletes what a missing path held back once exactly that was approved', () => {
    const missing = desiredState([], { pathExists: false, problems: [sourceProblem({ stage: 'source' })] });
    const two = [appliedRecord(web), appliedRecord(orders)];
    const first = plan([], two, { desired: missing });
    expect(first).to.include({ empty: true, awaiting: 'missing-path' });
    const approve = (hash: string) =>
      plan([], two, { desired: missing, operatorInput: said({ approvals: [{ hash, begunActions: null }] }) });
    expect(told(approve(first.hash))).to.deep.equal(['prune orders', 'prune web']);
    expect(approve(first.hash)).to.include({ hash: first.hash, awaiting: null });
    const other = plan([], [appliedRecord(web)], { desired: missing });
    expect(told(approve(other.hash))).to.deep.equal(['keep orders: missing-path', 'keep web: missing-path']);
  });

  describe('as a rule', () => {
    const NAMES = ['a', 'b', 'c'];
    const manifest = (name: string) =>
      fc.record({
        name: fc.constant(name),
        uid: fc.constantFrom(null, `uid-${name}`, `ui ${name}`),
        spec: fc.record({ description: fc.constantFrom('one', 'two') }),
      });
    const tree = fc
      .subarray(NAMES)
      .chain((names) => fc.tuple(...names.map(manifest)))
      .map((texts) => texts.map(desiredManifest));
    const situation = fc.record({
      manifests: tree,
      recorded: tree.map((manifests) => manifests.map((one) => appliedRecord(one))),
      ui: fc.subarray(NAMES).map((names) => names.map((name) => uiObject(name))),
      overrides: fc.subarray(
        NAMES.flatMap((name) => [word(name, 'adopt'), word(name, 'suspend'), word(name, 'prune')]),
      ),
      held: tree,
      policy: fc.record<GitPolicy>({
        ...(Object.fromEntries(
          Object.entries(DEFAULT_POLICY).map(([part, value]) => [part, fc.constant(value)]),
        ) as { [Part in keyof GitPolicy]: fc.Arbitrary<GitPolicy[Part]> }),
        prune: fc.boolean(),
        selfHeal: fc.boolean(),
        owns: fc.constantFrom<GitPolicy['owns'][]>(['Pipeline'], ['Pipeline', 'AlertRule'], ['NodeGroup']),
      }),
      descends: fc.boolean(),
    });
    type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;
    const planOf = ({ manifests, overrides, held, ...given }: Situation) =>
      plan(manifests, given.recorded, {
        ...given,
        operatorInput: said({ overrides, holds: held.map((one) => hold(one)) }),
      });

    /** What there is once every change of a plan went through. */
    function after(given: Situation, { changes }: Plan): Situation {
      const gone = new Set<Recorded>();
      const taken = new Set<string>();
      const written: Recorded[] = [];
      const owned = [...given.ui];
      for (const change of changes) {
        if (change.action === 'create' || change.action === 'update' || change.action === 'adopt') {
          const objectId =
            change.action === 'adopt'
              ? change.object.id
              : (change.previous?.objectId ?? `new ${nameOf(change)}`);
          for (const line of given.recorded)
            if (line === change.previous || line.nameKey === change.manifest.nameKey) gone.add(line);
          taken.add(objectId);
          written.push(appliedRecord(change.manifest, { objectId }));
        } else if (change.action === 'orphan') {
          gone.add(change.previous);
          owned.push(uiObject(change.previous.name, { id: change.previous.objectId ?? '' }));
        } else if (change.action === 'prune' || change.action === 'forget') gone.add(change.previous);
      }
      return {
        ...given,
        recorded: [...given.recorded.filter((line) => !gone.has(line)), ...written],
        ui: owned.filter(({ id }) => !taken.has(id)),
      };
    }

    it('is the same when it is made twice, and empty once it was applied', () => {
      fc.assert(
        fc.property(situation, (given) => {
          const first = planOf(given);
          expect(planOf(given)).to.deep.equal(first);
          const again = planOf(after(given, first));
          expect(
            told(again).filter((line) => /^(create|update|adopt|prune|orphan)/.test(line)),
          ).to.deep.equal([]);
        }),
        { numRuns: 500 },
      );
    });

    it('never acts on what is held, suspended, or of a kind that git does not own', () => {
      fc.assert(
        fc.property(situation, (given) => {
          for (const change of planOf(given).changes.filter(acts)) {
            if (change.action === 'orphan') continue;
            const name = nameOf(change).toLowerCase();
            expect(given.policy.owns).to.include('Pipeline');
            expect(given.overrides.some((one) => one.nameKey === name && one.action === 'suspend')).to.equal(
              false,
            );
            if ('manifest' in change)
              expect(
                given.held.some((one) => one.nameKey === name && one.hash === change.manifest.hash),
              ).to.equal(false);
            else expect(given.policy.prune).to.equal(true);
          }
        }),
        { numRuns: 500 },
      );
    });

    it('takes over each object of the UI once, and only by its id or by a word', () => {
      fc.assert(
        fc.property(situation, (given) => {
          const adopted = planOf(given).changes.filter((change) => change.action === 'adopt');
          const ids = adopted.map(({ object }) => object.id);
          expect(new Set(ids).size).to.equal(ids.length);
          for (const { manifest, object } of adopted)
            expect(
              manifest.uid === object.id ||
                given.overrides.some((one) => one.nameKey === manifest.nameKey && one.action === 'adopt'),
            ).to.equal(true);
        }),
        { numRuns: 500 },
      );
    });
  });

  it('says nothing where nothing was said', () => {
    expect(told(plan([web], [gone], { operatorInput: NO_OPERATOR_INPUT }))).to.deep.equal(['none web']);
  });
});
