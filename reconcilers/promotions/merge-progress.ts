/** How far a merged pull request is applied and rolled out in the target, and what it waits for. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Binding, readLine, readManifestStatus } from '../../controller/delivery/bindings/index.ts';
import type { PullRequestRecord } from '../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { ManifestStatus } from '../../schemas/api/delivery/git-sync.ts';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import { counted } from '../plan-view/index.ts';
import { descends, GitRepositoryError, openRepository } from '../source/index.ts';

export type MergeProgress =
  | {
      state: 'ready';
      pipelineId: string;
      version: number | null;
      /** Names of nodes that do not answer and are not waited for. The list is cut; the count is not. */
      silentNodes: string[];
      silentNodeCount: number;
      note: string | null;
    }
  /** In progress: nobody has to act. */
  | { state: 'progressing' }
  | { state: 'blocked'; reason: string };

/** Reasons of `Applied: False` that the next passes retry. */
const RETRIED_REASONS = new Set(['Blocked', 'ApplyFailed']);

export async function readMergeProgress(
  ctx: Context,
  binding: Binding,
  pull: Pick<PullRequestRecord, 'mergeSha' | 'number' | 'closedAt'>,
  targetName: string,
): Promise<MergeProgress> {
  if (binding.suspendedAt !== null)
    return blocked(`Merged, but git is suspended in ${binding.environmentName}; resume it (gitSync.resume)`);
  const isObserved = await isMergeObserved(ctx, binding, pull);
  const key = nameKeyOf(targetName);
  const manifest = await readManifestStatus(ctx, binding, { kind: 'Pipeline', nameKey: key });
  if (!isObserved) return describeUnobserved(binding, pull);
  if (!manifest?.objectId)
    return manifest
      ? describeUnapplied(manifest)
      : blocked(`Merged, but git no longer has the pipeline "${targetName}" in ${binding.environmentName}`);
  if (!manifest.ready) return describeUnapplied(manifest);
  const healthy = manifest.conditions.find(({ type }) => type === 'Healthy');
  if (healthy?.status === 'False')
    return blocked(`Merged and rolled out, but not healthy: ${healthy.message}`);
  const line = await readLine(ctx.db, binding.id, 'Pipeline', key);
  const { silentNodes, silentNodeCount } = manifest;
  return {
    state: 'ready',
    pipelineId: manifest.objectId,
    version: line?.objectVersion ?? null,
    ...{ silentNodes, silentNodeCount },
    note: manifest.conditions.some(({ type }) => type === 'RolledOut')
      ? describeSilentNodes(silentNodes, silentNodeCount)
      : 'Its manifest sets deployed: false, so it is applied and runs nowhere',
  };
}

const MAX_NAMES = 10;

/** `count` is the total; `names` may hold only the first ones. */
export function describeSilentNodes(names: readonly string[], count: number): string | null {
  if (count === 0) return null;
  const listed = names.slice(0, MAX_NAMES);
  if (count > listed.length) listed.push(`${count - listed.length} more`);
  return `Not waited for ${counted(count, 'node')} that ${count === 1 ? 'does' : 'do'} not answer: ${listed.join(', ')}`;
}

/** A pass that read git before the merge may end this long after it. */
const PASS_MS = 10_000;

const hasPassedSince = (lastPassAt: Date | null, closedAt: Date | null): boolean =>
  lastPassAt !== null && closedAt !== null && lastPassAt.getTime() - closedAt.getTime() > PASS_MS;

const blocked = (reason: string): MergeProgress => ({ state: 'blocked', reason });

/** Whether a pass has read the merge commit or a descendant of it. */
async function isMergeObserved(
  ctx: Context,
  binding: Binding,
  { mergeSha, closedAt }: Pick<PullRequestRecord, 'mergeSha' | 'closedAt'>,
): Promise<boolean> {
  const { headCommit, lastPassAt } = binding;
  if (!headCommit) return false;
  // The merge commit is unknown: every pass after the merge has read it.
  if (mergeSha === null) return closedAt !== null && lastPassAt !== null && lastPassAt > closedAt;
  const { gitdir } = ctx.services.repositories.of(binding);
  const repository = openRepository(gitdir);
  try {
    if (await descends(repository, headCommit.sha, mergeSha)) return true;
    // A shallow copy may lack the merge commit: then the time decides.
    return existsSync(join(gitdir, 'shallow')) && hasPassedSince(lastPassAt, closedAt);
  } catch (error) {
    if (error instanceof GitRepositoryError) return false;
    throw error;
  } finally {
    await repository.close();
  }
}

function describeUnobserved(
  { lastError, lastPassAt, ref }: Binding,
  { mergeSha, closedAt }: Pick<PullRequestRecord, 'mergeSha' | 'closedAt'>,
): MergeProgress {
  if (lastError) return blocked(`Merged, but git cannot be read: ${lastError}`);
  return hasPassedSince(lastPassAt, closedAt) && mergeSha !== null
    ? blocked(`Merged as ${mergeSha.slice(0, 7)}, which is no longer in ${ref}; promote again`)
    : { state: 'progressing' };
}

function describeUnapplied({ conditions }: ManifestStatus): MergeProgress {
  const failed = conditions.filter(({ type, status }) => status === 'False' && type !== 'RolledOut');
  // The other conditions say why the manifest was not applied.
  const reason = failed.find(({ type }) => type !== 'Applied') ?? failed[0];
  if (reason)
    return blocked(
      RETRIED_REASONS.has(reason.reason)
        ? `Merged, and retried automatically: ${reason.message}`
        : `Merged, but not applied (${reason.reason}): ${reason.message}`,
    );
  const rolledOut = conditions.find(({ type }) => type === 'RolledOut');
  return rolledOut?.status === 'False' && rolledOut.reason !== 'InProgress'
    ? blocked(`Merged and applied, not rolled out yet: ${rolledOut.message}`)
    : { state: 'progressing' };
}
