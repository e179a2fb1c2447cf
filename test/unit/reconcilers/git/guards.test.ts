import { expect } from 'chai';
import fc from 'fast-check';
import { makePlan, type Plan } from '../../../../reconcilers/git/plan/plan.ts';
import {
  evaluateGuards,
  type GuardFacts,
  type Guards,
  stopsPlan,
} from '../../../../reconcilers/git/plan/plan-guards.ts';
import { verdictOf } from '../../../../reconcilers/git/plan/verdict.ts';
import { NO_OPERATOR_INPUT } from '../../../../reconcilers/git/read/overrides.ts';
import { appliedRecord, desiredManifest, desiredState } from '../../../support/fixtures/desired.ts';

const named = (name: string, description = '') => desiredManifest({ name, spec: { description } });
const kept = named('kept');
const gone = (count: number) =>
  Array.from({ length: count }, (_, index) => appliedRecord(named(`gone-${index}`)));

/** Of so many deletions and creations, beside one manifest that stays. */
function planOf(deletes: number, creates = 0, approved: string[] = []): Plan {
  const made = Array.from({ length: creates }, (_, index) => named(`new-${index}`));
  return makePlan({
    desired: desiredState([kept, ...made]),
    recorded: [appliedRecord(kept), ...gone(deletes)],
    descends: true,
    allowedDeletes: 0,
    operatorInput: { ...NO_OPERATOR_INPUT, approved: new Set(approved) },
  });
}

const facts: GuardFacts = {
  ownedObjects: 10,
  nodes: 4,
  disturbedNodes: 1,
  firstPlan: false,
  rewritten: false,
};
const open: Guards = { maxDeletes: null, maxDeletePercent: null, maxNodeRestartPercent: null };

describe('guards', () => {
  const rows: [
    reason: string,
    deletes: number,
    policy: Partial<Guards>,
    exceeded: string[],
    facts?: Partial<GuardFacts> | undefined,
    message?: string | undefined,
  ][] = [
    ['none is set', 9, {}, []],
    ['as many go as may', 3, { maxDeletes: 3 }, []],
    ['one more goes', 4, { maxDeletes: 3 }, ['maxDeletes']],
    ['none may go', 1, { maxDeletes: 0 }, ['maxDeletes']],
    ['just the share goes', 2, { maxDeletePercent: 20 }, []],
    ['more than the share goes', 3, { maxDeletePercent: 20 }, ['maxDeletePercent']],
    ['git owns nothing yet', 0, { maxDeletePercent: 0 }, [], { ownedObjects: 0 }],
    ['just the nodes restart', 0, { maxNodeRestartPercent: 25 }, []],
    ['more nodes restart', 0, { maxNodeRestartPercent: 24 }, ['maxNodeRestartPercent']],
    ['there are no nodes', 0, { maxNodeRestartPercent: 0 }, [], { nodes: 0, disturbedNodes: 0 }],
    [
      'nobody has looked at nodes',
      0,
      { maxNodeRestartPercent: 0 },
      [],
      { nodes: null, disturbedNodes: null },
    ],
    [
      'the commit names as many deletions',
      4,
      { maxDeletes: 3, maxDeletePercent: 20 },
      [],
      undefined,
      'Sure\n\nHeadgate-Allow-Delete: 4',
    ],
    [
      'the commit names fewer',
      4,
      { maxDeletes: 3 },
      ['maxDeletes'],
      undefined,
      'Sure\n\nHeadgate-Allow-Delete: 3',
    ],
    [
      'the commit names them, and more nodes restart',
      4,
      { maxDeletes: 3, maxNodeRestartPercent: 0 },
      ['maxNodeRestartPercent'],
      undefined,
      'Sure\n\nHeadgate-Allow-Delete: 4',
    ],
    [
      'history was rewritten, and an old commit names them',
      4,
      { maxDeletes: 3 },
      ['maxDeletes'],
      { rewritten: true },
      'Sure\n\nHeadgate-Allow-Delete: 4',
    ],
    ['the plan is the first', 1, {}, ['firstPlan'], { firstPlan: true }],
    ['the first plan is empty', 0, {}, [], { firstPlan: true }],
  ];
  for (const [reason, deletes, policy, exceeded, ownFacts, message] of rows) {
    it(`say ${exceeded.join(', ') || 'nothing'} where ${reason}`, () => {
      const results = evaluateGuards(
        planOf(deletes),
        { ...facts, ...ownFacts },
        { ...open, ...policy },
        message ?? 'Change',
      );
      expect(results.filter(stopsPlan).map(({ guard }) => guard)).to.deep.equal(exceeded);
    });
  }

  it('tell of a guard that is kept, too, with the number beside the limit', () => {
    expect(evaluateGuards(planOf(2), facts, { ...open, maxDeletes: 5 }, '')).to.deep.equal([
      {
        guard: 'maxDeletes',
        limit: 5,
        value: 2,
        exceeded: false,
        message: 'deletes 2 objects, and 5 may go in one pass',
      },
    ]);
  });

  it('tell what there is to look at in a first plan', () => {
    const results = evaluateGuards(planOf(1), { ...facts, firstPlan: true }, open, '');
    expect(results.find(({ guard }) => guard === 'firstPlan')?.message).to.match(
      /the environment holds objects already: look at what it would do to them$/,
    );
  });

  it('let a plan through that was approved, and no other', () => {
    const size = fc.record({ deletes: fc.integer({ min: 1, max: 6 }), creates: fc.nat(3) });
    const binding = { mode: 'sync' as const, begunAt: new Date() };
    const judged = (plan: Plan) =>
      verdictOf(
        binding,
        { desired: desiredState([kept]) },
        plan,
        evaluateGuards(plan, facts, { ...open, maxDeletes: 0 }, ''),
      );
    fc.assert(
      fc.property(size, size, (one, other) => {
        const x = planOf(one.deletes, one.creates);
        const y = planOf(other.deletes, other.creates, [x.hash]);
        const same = one.deletes === other.deletes && one.creates === other.creates;
        expect(x.hash === y.hash).to.equal(same);
        const approved = planOf(one.deletes, one.creates, [x.hash]);
        expect(judged(approved)).to.include({ guarded: null, waiting: null });
        expect(judged(y).guarded === null).to.equal(same);
        if (!same) expect(judged(y).waiting?.hash).to.equal(y.hash);
      }),
    );
  });
});
