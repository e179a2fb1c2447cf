import { expect } from 'chai';
import { commitProgressOf, supersededBy } from '../../../reconcilers/pull-requests/commits/commit-status.ts';
import type { Condition } from '../../../schemas/api/common.ts';
import type { GitSyncStatus, ManifestStatus } from '../../../schemas/api/delivery/git-sync.ts';

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
  const rows: [reason: string, of: GitSyncStatus, says: string | null][] = [
    ['nothing can be said in another mode', status([], { mode: 'observe' }), null],
    ['nothing can be said before anything was read', status([], { headCommit: null }), null],
    [
      'silent nodes are named and not waited for',
      status([
        {
          ...manifest('web', APPLIED, condition('RolledOut', 'True', 'NodesUnreachable', 'on 1 of 2 nodes')),
          silentNodes: ['edge-2'],
          silentNodeCount: 1,
        },
        { ...manifest('api', APPLIED), silentNodes: ['edge-2'], silentNodeCount: 1 },
      ]),
      'success: rolled out: 2 manifests; not waited for 1 silent node: edge-2',
    ],
    [
      'silent nodes are counted whole where some of them are named',
      status([{ ...manifest('web', APPLIED), silentNodes: ['edge-1', 'edge-2'], silentNodeCount: 5_000 }]),
      'success: rolled out: 1 manifest; not waited for 5000 silent nodes: edge-1, edge-2 …',
    ],
    ['an empty tree is applied', status([]), 'success: applied'],
    [
      'another commit is applied still',
      status([manifest('web', APPLIED)], { appliedCommit: commit('b'.repeat(40)) }),
      'pending: applying',
    ],
    [
      'a canary is not a rollout',
      status([
        manifest(
          'web',
          APPLIED,
          condition('RolledOut', 'Unknown', 'Canary', 'canary on 1 of 5 nodes, until 12:30'),
        ),
      ]),
      'pending: web: canary on 1 of 5 nodes, until 12:30',
    ],
    [
      'several are under way',
      status([
        manifest('web', APPLIED, condition('RolledOut', 'False', 'InProgress', 'on 1 of 5 nodes')),
        manifest('edge', APPLIED, condition('RolledOut', 'False', 'InProgress', 'on 2 of 5 nodes')),
      ]),
      'pending: 2 under way: web: on 1 of 5 nodes',
    ],
    [
      'what crashed wins over what is under way',
      status([
        manifest('web', APPLIED, condition('RolledOut', 'False', 'InProgress', 'on 1 of 5 nodes')),
        manifest('edge', APPLIED, condition('Healthy', 'False', 'Crashed', 'Crashed on a')),
      ]),
      'failure: edge: Crashed on a',
    ],
    [
      'a rollback is a failure',
      status([manifest('web', condition('Applied', 'False', 'Held', 'Held by Ada'))]),
      'failure: web was rolled back: Held by Ada',
    ],
    [
      'what is left alone says nothing',
      status([
        manifest('web', condition('Applied', 'False', 'Suspended', 'left alone')),
        manifest('edge', APPLIED),
      ]),
      'success: rolled out: 2 manifests',
    ],
    [
      'what failed to be applied is told with its reason',
      status([manifest('web', condition('Applied', 'False', 'ApplyFailed', 'the name is taken'))]),
      'failure: web: the name is taken',
    ],
    [
      'what was applied and not recorded is under way',
      status([{ ...manifest('web', APPLIED), ready: false }]),
      'pending: web: applying',
    ],
    [
      'nothing goes on while git is suspended',
      status([manifest('web', APPLIED)], { suspended: true }),
      'pending: git is suspended here',
    ],
    [
      'files that cannot be read are a failure',
      status([manifest('web', APPLIED)], { importErrorCount: 2 }),
      'failure: 2 faults in manifests',
    ],
  ];
  for (const [reason, of, says] of rows) it(reason, () => expect(said(of)).to.equal(says));

  it('is told in 140 characters of one line', () => {
    const long = condition('Applied', 'False', 'ApplyFailed', `a\nline ${'x'.repeat(300)}`);
    const { description } = commitProgressOf(status([manifest('web', long)])) ?? { description: '' };
    expect([...description]).to.have.length(140);
    expect(description).to.match(/^web: a line x+…$/);
    expect(supersededBy(SHA)).to.deep.equal({ state: 'success', description: 'superseded by aaaaaaa' });
  });
});
