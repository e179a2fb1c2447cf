/** Who may review and merge, and what counts. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  approvalsOf,
  latestReviews,
  type MergeFacts,
  mergeRefusal,
  reviewRefusal,
} from '../../../controller/delivery/pull-requests/rules.ts';

const HEAD = 'a'.repeat(40);
const OLD = 'b'.repeat(40);
const PULL = {
  ...{ number: 7, forge: 'headgate' as const, url: null, state: 'open' as const, isDraft: false },
  ...{ base: 'main', mergeable: 'clean' as const, conflicts: [] as string[] },
  ...{ author: 'Ada', authorId: 'ada' as string | null, headSha: HEAD },
  contributorIds: ['mary'],
};
type Verdict = 'approve' | 'request-changes';
const review = (id: string | null, verdict: Verdict, headSha = HEAD, name = id ?? 'Somebody') => ({
  ...{ reviewer: name, reviewerId: id, verdict, headSha, isEditor: true },
});
const facts = (more: Partial<MergeFacts> = {}): MergeFacts => ({
  ...{ reviews: [], requiredApprovals: 0, mayPush: true },
  ...more,
});
const said = (pull: Partial<typeof PULL>, more: Partial<MergeFacts> = {}) => {
  const refusal = mergeRefusal({ ...PULL, ...pull } as typeof PULL, facts(more));
  return refusal && `${refusal.code}: ${refusal.message}`;
};

describe('what stands in the way of a merge', () => {
  const none: Partial<MergeFacts> = {};
  for (const { reason, pull = {}, more = none, expected } of [
    { reason: 'nothing', expected: null },
    {
      reason: 'it lives on a forge',
      pull: { forge: 'github', url: 'https://github.com/o/r/pull/7' } as never,
      expected: /^PRECONDITION_FAILED: Do it at https:\/\/github\.com\/o\/r\/pull\/7$/,
    },
    { reason: 'it is merged', pull: { state: 'merged' } as never, expected: /#7 is merged already/ },
    { reason: 'it is closed', pull: { state: 'closed' } as never, expected: /#7 is closed; reopen it first/ },
    { reason: 'a role is missing', more: { mayPush: false }, expected: /^FORBIDDEN: .*EDITOR in every team/ },
    { reason: 'it is a draft', pull: { isDraft: true }, expected: /is a draft/ },
    {
      reason: 'both changed a file',
      pull: { mergeable: 'conflict', conflicts: ['a', 'b', 'c', 'd', 'e', 'f'] } as never,
      expected: /^CONFLICT: It conflicts with main in a, b, c, d, e and 1 more; merge main into/,
    },
    {
      reason: 'nobody has approved it',
      more: { requiredApprovals: 1 },
      expected: /has 0 of 1 approvals at this commit/,
    },
    {
      reason: 'its author alone has approved it',
      more: { requiredApprovals: 1, reviews: [review('ada', 'approve')] },
      expected: /has 0 of 1/,
    },
    {
      reason: 'an earlier commit was approved',
      more: { requiredApprovals: 1, reviews: [review('grace', 'approve', OLD)] },
      expected: /has 0 of 1/,
    },
    {
      reason: 'one person has approved it twice',
      more: { requiredApprovals: 2, reviews: [review('grace', 'approve'), review('grace', 'approve')] },
      expected: /has 1 of 2/,
    },
    {
      reason: 'somebody asks for changes, though others approve',
      more: { reviews: [review('grace', 'request-changes'), review('joan', 'approve')] },
      expected: /grace has asked for changes/,
    },
    {
      reason: 'nothing: who asked for changes has approved since',
      more: {
        requiredApprovals: 1,
        reviews: [review('grace', 'request-changes'), review('grace', 'approve')],
      },
      expected: null,
    },
    {
      reason: 'nothing: the changes that were asked for are pushed',
      more: { reviews: [review('grace', 'request-changes', OLD)] },
      expected: null,
    },
    {
      reason: 'one who has added to it has approved it',
      more: { requiredApprovals: 1, reviews: [review('mary', 'approve')] },
      expected: /has 0 of 1/,
    },
    {
      reason: 'an account that is gone has approved it',
      more: {
        requiredApprovals: 1,
        reviews: [{ ...review(null, 'approve', HEAD, 'Joan'), isEditor: false }],
      },
      expected: /has 0 of 1/,
    },
    {
      reason: 'nothing: who asked for changes is no EDITOR any more',
      more: { reviews: [{ ...review('grace', 'request-changes'), isEditor: false }] },
      expected: null,
    },
  ])
    it(`is ${reason}`, () => {
      const found = said(pull, more);
      if (expected === null) expect(found).to.equal(null);
      else expect(found).to.match(expected);
    });
});

describe('a review', () => {
  const asked = (who: { id: string | null; name: string }, isEditor = true, pull = PULL) =>
    reviewRefusal(pull, { who, isEditor });

  it('is for others than the author', () => {
    expect(asked({ id: 'ada', name: 'Ada' })?.message).to.match(/somebody else has to review it/);
    expect(asked({ id: 'ada', name: 'Ada' })?.code).to.equal('FORBIDDEN');
    // A namesake is another person, as long as both have an account.
    expect(asked({ id: 'other', name: 'Ada' })).to.equal(null);
    expect(asked({ id: null, name: 'Ada' }, true, { ...PULL, authorId: null })?.code).to.equal('FORBIDDEN');
    expect(asked({ id: 'mary', name: 'Mary' })?.message).to.match(/^Some of it is your own work/);
  });

  it('is for EDITORs, of what is open and kept here', () => {
    expect(asked({ id: 'g', name: 'G' }, false)?.message).to.match(/EDITOR/);
    const closed = { ...PULL, state: 'closed' as never };
    expect(asked({ id: 'g', name: 'G' }, true, closed)?.message).to.match(/is closed/);
  });

  it('counts as the last word of each, at this commit alone', () => {
    const who = fc.constantFrom('ada', 'grace', 'joan', 'mary');
    const verdict = fc.constantFrom<Verdict>('approve', 'request-changes');
    const reviews = fc.array(
      fc.tuple(who, verdict, fc.constantFrom(HEAD, OLD)).map(([id, word, sha]) => review(id, word, sha)),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(reviews, fc.integer({ min: 0, max: 3 }), (all, requiredApprovals) => {
        const last = new Map(all.map((one) => [one.reviewerId, one]));
        for (const own of ['ada', 'mary']) last.delete(own);
        const words = [...last.values()].filter(({ headSha }) => headSha === HEAD);
        const yes = words.filter(({ verdict: word }) => word === 'approve').length;
        expect(approvalsOf(PULL, all)).to.equal(yes);
        expect(latestReviews(PULL, all)).to.have.members(words);
        const may = yes === words.length && yes >= requiredApprovals;
        expect(mergeRefusal(PULL, facts({ reviews: all, requiredApprovals })) === null).to.equal(may);
      }),
    );
  });
});
