import { expect } from 'chai';
import fc from 'fast-check';
import {
  evaluateGuards,
  type GuardFacts,
  type Guards,
  stopsPlan,
} from '../../../../reconcilers/git/plan/guards.ts';
import { makePlan, type Plan } from '../../../../reconcilers/git/plan/plan.ts';
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
    said: { ...NO_OPERATOR_INPUT, approved: new Set(approved) },
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
  const rows: {
    reason: string;
    deletes: number;
    policy: Partial<Guards>;
    facts?: Partial<GuardFacts>;
    message?: string;
    exceeded: string[];
  }[] = [
    { reason: 'none is set', deletes: 9, policy: {}, exceeded: [] },
    { reason: 'as many go as may', deletes: 3, policy: { maxDeletes: 3 }, exceeded: [] },
    { reason: 'one more goes', deletes: 4, policy: { maxDeletes: 3 }, exceeded: ['maxDeletes'] },
    { reason: 'none may go', deletes: 1, policy: { maxDeletes: 0 }, exceeded: ['maxDeletes'] },
    { reason: 'just the share goes', deletes: 2, policy: { maxDeletePercent: 20 }, exceeded: [] },
    {
      reason: 'more than the share goes',
      deletes: 3,
      policy: { maxDeletePercent: 20 },
      exceeded: ['maxDeletePercent'],
    },
    {
      reason: 'git owns nothing yet',
      deletes: 0,
      policy: { maxDeletePercent: 0 },
      facts: { ownedObjects: 0 },
      exceeded: [],
    },
    { reason: 'just the nodes restart', deletes: 0, policy: { maxNodeRestartPercent: 25 }, exceeded: [] },
    {
      reason: 'more nodes restart',
      deletes: 0,
      policy: { maxNodeRestartPercent: 24 },
      exceeded: ['maxNodeRestartPercent'],
    },
    {
      reason: 'there are no nodes',
      deletes: 0,
      policy: { maxNodeRestartPercent: 0 },
      facts: { nodes: 0, disturbedNodes: 0 },
      exceeded: [],
    },
    {
      reason: 'nobody has looked at nodes',
      deletes: 0,
      policy: { maxNodeRestartPercent: 0 },
      facts: { nodes: null, disturbedNodes: null },
      exceeded: [],
    },
    {
      reason: 'the commit names as many deletions',
      deletes: 4,
      policy: { maxDeletes: 3, maxDeletePercent: 20 },
      message: 'Sure\n\nHeadgate-Allow-Delete: 4',
      exceeded: [],
    },
    {
      reason: 'the commit names fewer',
      deletes: 4,
      policy: { maxDeletes: 3 },
      message: 'Sure\n\nHeadgate-Allow-Delete: 3',
      exceeded: ['maxDeletes'],
    },
    {
      reason: 'the commit names them, and more nodes restart',
      deletes: 4,
      policy: { maxDeletes: 3, maxNodeRestartPercent: 0 },
      message: 'Sure\n\nHeadgate-Allow-Delete: 4',
      exceeded: ['maxNodeRestartPercent'],
    },
    {
      reason: 'history was rewritten, and an old commit names them',
      deletes: 4,
      policy: { maxDeletes: 3 },
      facts: { rewritten: true },
      message: 'Sure\n\nHeadgate-Allow-Delete: 4',
      exceeded: ['maxDeletes'],
    },
    {
      reason: 'the plan is the first',
      deletes: 1,
      policy: {},
      facts: { firstPlan: true },
      exceeded: ['firstPlan'],
    },
    { reason: 'the first plan is empty', deletes: 0, policy: {}, facts: { firstPlan: true }, exceeded: [] },
  ];
  for (const row of rows) {
    it(`say ${row.exceeded.join(', ') || 'nothing'} where ${row.reason}`, () => {
      const results = evaluateGuards(
        planOf(row.deletes),
        { ...facts, ...row.facts },
        { ...open, ...row.policy },
        row.message ?? 'Change',
      );
      expect(results.filter(stopsPlan).map(({ guard }) => guard)).to.deep.equal(row.exceeded);
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
