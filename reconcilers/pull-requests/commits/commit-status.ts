/** How far the head commit of an environment has got, from what `gitSync.status` says: what its commit status tells. */
import type { GitSyncStatus, ManifestStatus } from '../../../schemas/api/git-sync.ts';
import type { CheckState } from '../../../schemas/api/pull-requests.ts';
import { counted } from '../../plan-view/index.ts';
import { oneLine } from '../check/check-messages.ts';

export interface CommitProgress {
  state: CheckState;
  description: string;
}

const standing = (state: CheckState, description: string): CommitProgress => ({
  state,
  description: oneLine(description),
});

/** Reasons of Applied that say that what git holds is not what runs, and that waiting does not mend it. */
const FAILED: ReadonlySet<string> = new Set(['Invalid', 'Conflict', 'Blocked', 'ApplyFailed']);
/** Left alone by somebody's word, or gone from git: they say nothing of this commit. */
const ASIDE: ReadonlySet<string> = new Set([
  'Suspended',
  'NotOwned',
  'Observing',
  'PruneWaits',
  'PruneRefused',
  'HistoryRewritten',
]);

/** A fault wins over what is still under way, and that over what is done. Null where nothing can be said of a commit. */
export function commitProgressOf(status: GitSyncStatus): CommitProgress | null {
  const { headCommit, appliedCommit, manifests } = status;
  if (status.mode !== 'sync' || headCommit === null) return null;
  const found = manifests.map(standingOfManifest).filter((one) => one !== null);
  const failed = found.find(({ state }) => state === 'failure');
  if (failed) return failed;
  if (status.importErrorCount > 0)
    return standing('failure', `${counted(status.importErrorCount, 'fault')} in manifests`);
  if (status.waitingPlan !== null || status.waitsForFirstPlan)
    return standing('pending', 'waits for an approval: an ADMIN looks at the plan');
  if (status.suspended) return standing('pending', 'git is suspended here');
  if (headCommit.sha !== appliedCommit?.sha) return standing('pending', 'applying');
  const moving = found.filter(({ state }) => state === 'pending');
  const [first] = moving;
  if (first)
    return moving.length === 1
      ? first
      : standing('pending', `${moving.length} under way: ${first.description}`);
  if (manifests.length === 0) return standing('success', 'applied');
  const silent = [...new Set(manifests.flatMap(({ silentNodes }) => silentNodes))];
  // Where not all are named, nobody knows which manifests have in common: as many as of the one with the most.
  const count = Math.max(silent.length, ...manifests.map(({ silentNodeCount }) => silentNodeCount));
  const without =
    count > 0
      ? `; not waited for ${counted(count, 'silent node')}: ${silent.join(', ')}${count > silent.length ? ' …' : ''}`
      : '';
  return standing('success', `rolled out: ${counted(manifests.length, 'manifest')}${without}`);
}

/** Null where it is done, or has no part in it. */
function standingOfManifest({ name, conditions, ready }: ManifestStatus): CommitProgress | null {
  const of = (type: string) => conditions.find((one) => one.type === type);
  const broken = conditions.find(
    ({ type, status }) =>
      status === 'False' && (type === 'Parsed' || type === 'Validated' || type === 'Tested'),
  );
  if (broken) return standing('failure', `${name} refused: ${broken.message}`);
  const applied = of('Applied');
  if (applied && applied.status !== 'True') {
    if (ASIDE.has(applied.reason)) return null;
    if (applied.reason === 'Held') return standing('failure', `${name} was rolled back: ${applied.message}`);
    return FAILED.has(applied.reason)
      ? standing('failure', `${name}: ${applied.message}`)
      : standing('pending', `${name}: ${applied.message}`);
  }
  const healthy = of('Healthy');
  if (healthy?.status === 'False') return standing('failure', `${name}: ${healthy.message}`);
  const rolledOut = of('RolledOut');
  if (rolledOut && rolledOut.status !== 'True') return standing('pending', `${name}: ${rolledOut.message}`);
  return applied && ready ? null : standing('pending', `${name}: applying`);
}

export const supersededBy = (sha: string): CommitProgress =>
  standing('success', `superseded by ${sha.slice(0, 7)}`);
