/** What the pages of promotions and pull requests work out by themselves: words, ways, order, what became of a merge. */
import { expect } from 'chai';
import type { Gate, GateState } from '../../../schemas/api/common.ts';
import type { PlannedChange } from '../../../schemas/api/delivery/git-plan.ts';
import type { ManifestStatus } from '../../../schemas/api/delivery/git-sync.ts';
import type { Promotion } from '../../../schemas/api/delivery/promotions.ts';
import {
  inOrderOfNeed,
  mayCancel,
  pullRequestBadge,
  statusText,
  stepsOf,
  whyNotDecide,
} from '../../../web/src/features/promotions/promotion-text.ts';
import {
  type ChangedFile,
  conversationOf,
  filesText,
  landingOf,
  openedAtFirst,
  stepsOfPull,
  testsOf,
  testsText,
} from '../../../web/src/features/pull-request/review.ts';

const AT = new Date('2026-01-02T03:04:05Z');
const LATER = new Date('2026-01-02T03:05:05Z');

const promotion = (change: Partial<Promotion> = {}): Promotion => ({
  id: 'r1',
  status: 'PENDING',
  pipelineId: 'p1',
  pipelineName: 'orders',
  sourceEnvironmentId: 'e1',
  sourceEnvironmentName: 'staging',
  targetEnvironmentId: 'e2',
  targetEnvironmentName: 'production',
  targetPipelineId: null,
  targetName: 'orders',
  sourceVersion: 4,
  targetVersion: null,
  pullRequest: null,
  requestedBy: 'Ada',
  requestedById: 'u1',
  decidedBy: null,
  note: null,
  lastError: null,
  createdAt: AT,
  decidedAt: null,
  deployedAt: null,
  silentNodes: [],
  ...change,
});

const pullRequest = (state: 'open' | 'merged' | 'closed', check: 'success' | 'failure' = 'success') => ({
  number: 3,
  state,
  forge: 'headgate' as const,
  url: 'http://localhost/e/e2/promotions/3',
  check: { state: check, summary: 'conflicts with main in 1 file' },
});

const ways = (of: Promotion): string[] => stepsOf(of).map(({ word, tone }) => `${word} ${tone}`);

describe('promotions in words', () => {
  const cases: { reason: string; of: Promotion; status: string; way: string[] }[] = [
    {
      reason: 'nobody has decided',
      of: promotion(),
      status: 'Waits for approval',
      way: ['asked ok', 'approved held', 'running unknown'],
    },
    {
      reason: 'approved, and it could not be deployed',
      of: promotion({ lastError: 'the secret is missing' }),
      status: 'Approved, not deployed',
      way: ['asked ok', 'approved held', 'running failed'],
    },
    {
      reason: 'deployed, and a node did not answer',
      of: promotion({ status: 'DEPLOYED', silentNodes: ['edge-2'], decidedBy: 'Bea' }),
      status: 'Deployed; 1 node silent',
      way: ['asked ok', 'approved ok', 'running ok'],
    },
    {
      reason: 'deployed, and more nodes did not answer than are named',
      of: promotion({ status: 'DEPLOYED', silentNodes: new Array(100).fill('edge'), decidedBy: 'Bea' }),
      status: 'Deployed; 100 nodes or more silent',
      way: ['asked ok', 'approved ok', 'running ok'],
    },
    {
      reason: 'its pull request is open',
      of: promotion({ status: 'AWAITING_PR_MERGE', pullRequest: pullRequest('open') }),
      status: 'Waits for its pull request',
      way: ['asked ok', 'merged moving', 'running unknown'],
    },
    {
      reason: 'its pull request does not pass',
      of: promotion({ status: 'AWAITING_PR_MERGE', pullRequest: pullRequest('open', 'failure') }),
      status: 'Waits for its pull request',
      way: ['asked ok', 'merged failed', 'running unknown'],
    },
    {
      reason: 'merged a moment ago',
      of: promotion({ status: 'AWAITING_PR_MERGE', pullRequest: pullRequest('merged') }),
      status: 'Rolling out',
      way: ['asked ok', 'merged ok', 'running moving'],
    },
    {
      reason: 'merged, and it crashes',
      of: promotion({
        status: 'AWAITING_PR_MERGE',
        pullRequest: pullRequest('merged'),
        lastError: 'crashed on edge-1',
      }),
      status: 'Merged, not running',
      way: ['asked ok', 'merged ok', 'running failed'],
    },
    {
      reason: 'it runs',
      of: promotion({ status: 'DEPLOYED', pullRequest: pullRequest('merged') }),
      status: 'Deployed',
      way: ['asked ok', 'merged ok', 'running ok'],
    },
    {
      reason: 'somebody said no',
      of: promotion({ status: 'REJECTED', decidedBy: 'Grace' }),
      status: 'Rejected',
      way: ['asked ok', 'rejected failed', 'running unknown'],
    },
    {
      reason: 'called off',
      of: promotion({ status: 'CANCELLED' }),
      status: 'Cancelled',
      way: ['asked ok', 'cancelled unknown', 'running unknown'],
    },
  ];
  for (const { reason, of, status, way } of cases)
    it(`tells where it stands: ${reason}`, () => {
      expect(statusText(of).word).to.equal(status);
      expect(ways(of)).to.deep.equal(way);
    });

  it('puts what somebody is to decide first, the newest of it on top', () => {
    const list = [
      promotion({ id: 'a', status: 'AWAITING_PR_MERGE', createdAt: LATER }),
      promotion({ id: 'b' }),
      promotion({ id: 'c', createdAt: LATER }),
    ];
    expect(inOrderOfNeed(list).map(({ id }) => id)).to.deep.equal(['c', 'b', 'a']);
  });

  it('says who may decide and who may call it off', () => {
    expect(whyNotDecide(promotion(), { id: 'u2' }, 'EDITOR')).to.equal(null);
    expect(whyNotDecide(promotion(), { id: 'u1' }, 'ADMIN')).to.match(/You asked for it/);
    expect(whyNotDecide(promotion(), { id: 'u2' }, 'VIEWER')).to.match(/needs EDITOR/);
    expect(whyNotDecide(promotion(), { id: 'u2' }, null)).to.match(/no member/);
    expect(mayCancel(promotion(), { id: 'u1' })).to.equal(true);
    expect(mayCancel(promotion(), { id: 'u2' })).to.equal(false);
    expect(mayCancel(promotion({ requestedById: null }), undefined)).to.equal(false);
  });

  it('calls a pull request by what matters most', () => {
    const of = (change: object) =>
      pullRequestBadge({ state: 'open', isDraft: false, mergeable: 'clean', ...change }).word;
    expect(of({})).to.equal('Open');
    expect(of({ isDraft: true })).to.equal('Draft');
    expect(of({ isDraft: true, mergeable: 'conflict' })).to.equal('Conflicts');
    expect(of({ state: 'merged', mergeable: 'conflict' })).to.equal('Merged');
    expect(of({ state: 'closed' })).to.equal('Closed');
  });
});

const gateOf = (state: GateState): Gate =>
  (['git', 'accepted', 'delivered', 'running'] as const).map((point) => ({
    point,
    state: point === 'git' ? 'done' : state,
    commit: 'c'.repeat(40),
    version: null,
    at: AT,
    reason: '',
  }));

const manifest = (name: string, state: GateState): ManifestStatus => ({
  kind: 'Pipeline',
  name,
  path: `${name}.yaml`,
  line: 1,
  objectId: null,
  appliedCommit: null,
  seenCommit: null,
  ready: state === 'done',
  gate: gateOf(state),
  silentNodes: [],
  silentNodeCount: 0,
  conditions: [],
});

const change = (name: string, action: PlannedChange['action'] = 'update'): PlannedChange => ({
  ...{ action, kind: 'Pipeline', name, renamedFrom: null, path: `${name}.yaml`, line: 1, objectId: null },
  ...{ reason: null, fields: [], engineDiff: null, nodes: null, tests: [], findings: [], notes: [] },
  preview: null,
});

describe('what became of a merge', () => {
  const [base, merge, next] = ['b', 'c', 'd'].map((letter) => letter.repeat(40)) as [string, string, string];
  const merged = { mergeSha: merge, baseSha: base, closedAt: AT, base: 'main' };
  const head = (sha: string) => ({ sha, author: 'Ada', email: '', subject: '', at: AT });
  const status = (manifests: ManifestStatus[], more: object = {}) => ({
    environmentName: 'production',
    mode: 'sync' as const,
    suspended: false,
    headCommit: head(merge),
    lastSyncAt: AT,
    waitingPlan: null,
    manifests,
    ...more,
  });
  const landed = (manifests: ManifestStatus[], more: object = {}) =>
    landingOf(status(manifests, more), merged, [
      change('orders'),
      change('billing'),
      change('old', 'delete'),
    ]);

  it('waits for the pass that reads it', () => {
    const before = [manifest('orders', 'done'), manifest('billing', 'done')];
    expect(landed(before, { headCommit: head(base) }).tone).to.equal('moving');
    expect(landed(before, { headCommit: null }).tone).to.equal('moving');
    expect(landed(before, { headCommit: head(next) }).tone, 'a pass of before').to.equal('moving');
    expect(landed(before, { headCommit: head(next), lastSyncAt: LATER }).tone, 'it went on').to.equal('ok');
  });

  it('is done once everything that it changed runs', () => {
    const half = landed([
      manifest('orders', 'done'),
      manifest('billing', 'moving'),
      manifest('other', 'failed'),
    ]);
    expect(half.tone).to.equal('moving');
    expect(half.text).to.equal('1 of 2 objects runs as merged.');
    expect(half.manifests.map(({ name }) => name)).to.deep.equal(['orders', 'billing']);
    const all = landed([manifest('orders', 'done'), manifest('billing', 'done')]);
    expect(all).to.include({ tone: 'ok', title: 'production runs what was merged' });
  });

  it('says what fails, what is held back, and what waits for an ADMIN', () => {
    const failed = landed([manifest('orders', 'done'), manifest('billing', 'failed')]);
    expect(failed).to.include({ tone: 'failed', title: 'Merged, and not all of it runs in production' });
    expect(landed([manifest('orders', 'held')]).tone).to.equal('held');
    const waiting = landed([manifest('orders', 'moving')], {
      waitingPlan: { hash: '', guards: [], since: AT },
    });
    expect(waiting.title).to.equal('Merged, and waits for an ADMIN of production');
    expect(landed([], { mode: 'observe' }).title).to.equal('Merged, and not applied to production');
    expect(landed([], { suspended: true }).text).to.match(/suspended/);
  });

  it('claims nothing where no plan foretold what changes', () => {
    expect(landingOf(status([manifest('orders', 'failed')]), merged, null)).to.deep.include({
      tone: 'ok',
      manifests: [],
    });
  });
});

describe('a review in words', () => {
  const file = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
    ...{ path, oldPath: null, status: 'modified', additions: 3, deletions: 1, patch: '@@' },
    ...more,
  });

  it('opens the first few files that are short and are text', () => {
    const files = [
      file('a'),
      file('b', { patch: null }),
      file('c', { additions: 1_000 }),
      ...Array.from({ length: 10 }, (_, index) => file(`f${index}`)),
    ];
    expect([...openedAtFirst(files)]).to.deep.equal(['a', 'f0', 'f1', 'f2', 'f3', 'f4']);
    expect(filesText({ files: [file('a')], filesTotal: 1 })).to.equal('1 file, 3 lines added, 1 taken away');
  });

  it('counts tests, failed ones first', () => {
    const tested = change('orders');
    const test = (status: 'passed' | 'failed') => ({
      name: '',
      component: '',
      status,
      message: null,
      line: null,
    });
    expect(testsText(testsOf({ changes: [change('other')] }))).to.equal('none');
    expect(
      testsText(
        testsOf({ changes: [{ ...tested, tests: [test('passed'), test('failed'), test('passed')] }] }),
      ),
    ).to.equal('1 failed, 2 passed');
  });

  it('tells comments and reviews in the order in which they came', () => {
    const said = conversationOf({
      comments: [{ id: 'c', author: 'Ada', body: 'Why?', createdAt: LATER, updatedAt: LATER, own: true }],
      reviews: [
        {
          ...{ id: 'r', reviewer: 'Grace', verdict: 'approve', body: '', headSha: 'a' },
          ...{ current: true, createdAt: AT },
        },
      ],
    });
    expect(said.map(({ kind, by }) => `${kind} ${by}`)).to.deep.equal(['review Grace', 'comment Ada']);
  });

  it('draws the way of a pull request, with what stops it', () => {
    const pull = {
      ...{
        state: 'open' as const,
        mergeable: 'clean' as const,
        conflicts: [],
        author: 'Ada',
        mergedBy: null,
      },
      ...{ approvals: 1, requiredApprovals: 2, reviews: [] },
    };
    const check = { state: 'success' as const, summary: '1 changed' };
    const way = (...args: Parameters<typeof stepsOfPull>) =>
      stepsOfPull(...args).map(({ word, tone }) => `${word} ${tone}`);
    expect(way(pull, check, null)).to.deep.equal([
      ...['opened ok', 'checked ok', 'approved held', 'merged unknown', 'running unknown'],
    ]);
    expect(way({ ...pull, mergeable: 'conflict', conflicts: ['a'] }, check, null)[1]).to.equal(
      'checked failed',
    );
    expect(way({ ...pull, approvals: 0, requiredApprovals: 0 }, null, null).slice(1, 3)).to.deep.equal([
      'checked unknown',
      'approved unknown',
    ]);
    const against = {
      ...{ id: 'r', reviewer: 'Grace', verdict: 'request-changes' as const, body: '', headSha: 'a' },
      ...{ current: true, createdAt: AT },
    };
    expect(way({ ...pull, reviews: [against] }, check, null)[2]).to.equal('approved failed');
    expect(way({ ...pull, state: 'closed' }, check, null).at(-1)).to.equal('closed unknown');
    expect(
      way({ ...pull, state: 'merged', mergedBy: 'Grace' }, check, { tone: 'moving', title: '' }).slice(3),
    ).to.deep.equal(['merged ok', 'running moving']);
  });
});
