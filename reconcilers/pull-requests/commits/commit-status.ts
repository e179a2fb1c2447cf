/** Derives the commit status of an environment's head commit from `gitSync.status`. */
import type { GitSyncStatus, ManifestStatus } from '../../../schemas/api/delivery/git-sync.ts';
import type { CheckState } from '../../../schemas/api/delivery/pull-requests.ts';
import { counted } from '../../plan-view/index.ts';
import { oneLine } from '../check/check-messages.ts';

export interface CommitProgress {
  state: CheckState;
  description: string;
}

const progress = (state: CheckState, description: string): CommitProgress => ({
  state,
  description: oneLine(description),
});

/** Reasons of Applied that mean a failure: waiting does not resolve them. */
const FAILED: ReadonlySet<string> = new Set(['Invalid', 'Conflict', 'Blocked', 'ApplyFailed']);
/** Reasons of Applied that do not depend on this commit: suspended by an operator, not owned, or gone from git. */
const IGNORED: ReadonlySet<string> = new Set([
  'Suspended',
  'NotOwned',
  'Observing',
  'PruneWaits',
  'PruneRefused',
  'HistoryRewritten',
]);

/** A failure wins over pending, and pending over success. Null where git is not followed. */
export function commitProgressOf(status: GitSyncStatus): CommitProgress | null {
  const { headCommit, appliedCommit, manifests } = status;
  if (status.mode !== 'sync' || headCommit === null) return null;
  const found = manifests.map(progressOfManifest).filter((one) => one !== null);
  const failed = found.find(({ state }) => state === 'failure');
  if (failed) return failed;
  if (status.importErrorCount > 0)
    return progress('failure', `${counted(status.importErrorCount, 'fault')} in manifests`);
  if (status.waitingPlan !== null || status.waitsForFirstPlan)
    return progress('pending', 'waits for an approval: an ADMIN looks at the plan');
  if (status.suspended) return progress('pending', 'git is suspended here');
  if (headCommit.sha !== appliedCommit?.sha) return progress('pending', 'applying');
  const pending = found.filter(({ state }) => state === 'pending');
  const [first] = pending;
  if (first)
    return pending.length === 1
      ? first
      : progress('pending', `${pending.length} under way: ${first.description}`);
  if (manifests.length === 0) return progress('success', 'applied');
  const silent = [...new Set(manifests.flatMap(({ silentNodes }) => silentNodes))];
  // Lists of silent nodes are cut, so the union may be too small: the largest count of one manifest is a lower bound.
  const count = Math.max(silent.length, ...manifests.map(({ silentNodeCount }) => silentNodeCount));
  const without =
    count > 0
      ? `; not waited for ${counted(count, 'silent node')}: ${silent.join(', ')}${count > silent.length ? ' …' : ''}`
      : '';
  return progress('success', `rolled out: ${counted(manifests.length, 'manifest')}${without}`);
}

/** Null where the manifest is rolled out, or does not depend on this commit. */
function progressOfManifest({ name, conditions, ready }: ManifestStatus): CommitProgress | null {
  const of = (type: string) => conditions.find((one) => one.type === type);
  const broken = conditions.find(
    ({ type, status }) =>
      status === 'False' && (type === 'Parsed' || type === 'Validated' || type === 'Tested'),
  );
  if (broken) return progress('failure', `${name} refused: ${broken.message}`);
  const applied = of('Applied');
  if (applied && applied.status !== 'True') {
    if (IGNORED.has(applied.reason)) return null;
    if (applied.reason === 'Held') return progress('failure', `${name} was rolled back: ${applied.message}`);
    return FAILED.has(applied.reason)
      ? progress('failure', `${name}: ${applied.message}`)
      : progress('pending', `${name}: ${applied.message}`);
  }
  const healthy = of('Healthy');
  if (healthy?.status === 'False') return progress('failure', `${name}: ${healthy.message}`);
  const rolledOut = of('RolledOut');
  if (rolledOut && rolledOut.status !== 'True') return progress('pending', `${name}: ${rolledOut.message}`);
  return applied && ready ? null : progress('pending', `${name}: applying`);
}

export const supersededBy = (sha: string): CommitProgress =>
  progress('success', `superseded by ${sha.slice(0, 7)}`);
