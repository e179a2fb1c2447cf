import { expect } from 'chai';
import { commitProgressOf, supersededBy } from '../../../reconcilers/pull-requests/commits/commit-status.ts';
import type { Condition } from '../../../schemas/api/common.ts';
import type { GitSyncStatus, ManifestStatus } from '../../../schemas/api/git-sync.ts';

const SHA = 'a'.repeat(40);
const commit = (sha: string) => ({
  ...{ sha, author: 'Ada', email: 'ada@example.org', subject: 'change', at: new Date(0) },
});

const condition = (type: string, status: string, reason: string, message: string): Condition =>
  ({
    ...{ type, status, reason, message, file: null, line: null, commit: SHA },
    lastTransition: new Date(0),
  }) as Condition;
const APPLIED = condition('Applied', 'True', 'Applied', 'applied');
const manifest = (name: string, ...conditions: Condition[]): ManifestStatus =>
  ({ name, conditions, ready: true, silentNodes: [], silentNodeCount: 0 }) as unknown as ManifestStatus;

const status = (manifests: ManifestStatus[], more: Partial<GitSyncStatus> = {}): GitSyncStatus =>
  ({
    ...{ mode: 'sync', headCommit: commit(SHA), appliedCommit: commit(SHA), manifests, importErrorCount: 0 },
    ...{ waitingPlan: null, waitsForFirstPlan: false, suspended: false },
    ...more,
  }) as GitSyncStatus;

const said = (of: GitSyncStatus) => {
  const found = commitProgressOf(of);
  return found && `${found.state}: ${found.description}`;
};

describe('how far a commit has got', () => {
  const rows: { reason: string; of: GitSyncStatus; says: string | null }[] = [
    { reason: 'nothing can be said in another mode', of: status([], { mode: 'observe' }), says: null },
    {
      reason: 'nothing can be said before anything was read',
      of: status([], { headCommit: null }),
      says: null,
    },
    {
      reason: 'silent nodes are named and not waited for',
      of: status([
        {
          ...manifest('web', APPLIED, condition('RolledOut', 'True', 'NodesUnreachable', 'on 1 of 2 nodes')),
          silentNodes: ['edge-2'],
          silentNodeCount: 1,
        },
        { ...manifest('api', APPLIED), silentNodes: ['edge-2'], silentNodeCount: 1 },
      ]),
      says: 'success: rolled out: 2 manifests; not waited for 1 silent node: edge-2',
    },
    {
      reason: 'silent nodes are counted whole where some of them are named',
      of: status([
        { ...manifest('web', APPLIED), silentNodes: ['edge-1', 'edge-2'], silentNodeCount: 5_000 },
      ]),
      says: 'success: rolled out: 1 manifest; not waited for 5000 silent nodes: edge-1, edge-2 …',
    },
    { reason: 'an empty tree is applied', of: status([]), says: 'success: applied' },
    {
      reason: 'another commit is applied still',
      of: status([manifest('web', APPLIED)], { appliedCommit: commit('b'.repeat(40)) }),
      says: 'pending: applying',
    },
    {
      reason: 'a canary is not a rollout',
      of: status([
        manifest(
          'web',
          APPLIED,
          condition('RolledOut', 'Unknown', 'Canary', 'canary on 1 of 5 nodes, until 12:30'),
        ),
      ]),
      says: 'pending: web: canary on 1 of 5 nodes, until 12:30',
    },
    {
      reason: 'several are under way',
      of: status([
        manifest('web', APPLIED, condition('RolledOut', 'False', 'InProgress', 'on 1 of 5 nodes')),
        manifest('edge', APPLIED, condition('RolledOut', 'False', 'InProgress', 'on 2 of 5 nodes')),
      ]),
      says: 'pending: 2 under way: web: on 1 of 5 nodes',
    },
    {
      reason: 'what crashed wins over what is under way',
      of: status([
        manifest('web', APPLIED, condition('RolledOut', 'False', 'InProgress', 'on 1 of 5 nodes')),
        manifest('edge', APPLIED, condition('Healthy', 'False', 'Crashed', 'Crashed on a')),
      ]),
      says: 'failure: edge: Crashed on a',
    },
    {
      reason: 'a rollback is a failure',
      of: status([manifest('web', condition('Applied', 'False', 'Held', 'Held by Ada'))]),
      says: 'failure: web was rolled back: Held by Ada',
    },
    {
      reason: 'what is left alone says nothing',
      of: status([
        manifest('web', condition('Applied', 'False', 'Suspended', 'left alone')),
        manifest('edge', APPLIED),
      ]),
      says: 'success: rolled out: 2 manifests',
    },
    {
      reason: 'what failed to be applied is told with its reason',
      of: status([manifest('web', condition('Applied', 'False', 'ApplyFailed', 'the name is taken'))]),
      says: 'failure: web: the name is taken',
    },
    {
      reason: 'what was applied and not recorded is under way',
      of: status([{ ...manifest('web', APPLIED), ready: false }]),
      says: 'pending: web: applying',
    },
    {
      reason: 'nothing goes on while git is suspended',
      of: status([manifest('web', APPLIED)], { suspended: true }),
      says: 'pending: git is suspended here',
    },
    {
      reason: 'files that cannot be read are a failure',
      of: status([manifest('web', APPLIED)], { importErrorCount: 2 }),
      says: 'failure: 2 faults in manifests',
    },
  ];
  for (const { reason, of, says } of rows) it(reason, () => expect(said(of)).to.equal(says));

  it('is told in 140 characters of one line', () => {
    const long = condition('Applied', 'False', 'ApplyFailed', `a\nline ${'x'.repeat(300)}`);
    const { description } = commitProgressOf(status([manifest('web', long)])) ?? { description: '' };
    expect([...description]).to.have.length(140);
    expect(description).to.match(/^web: a line x+…$/);
    expect(supersededBy(SHA)).to.deep.equal({ state: 'success', description: 'superseded by aaaaaaa' });
  });
});
