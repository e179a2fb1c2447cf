/** What has become of a pull request that was merged: whether what it brought runs, and else what it waits for. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Binding, readLine, readManifestStatus } from '../../controller/delivery/bindings/index.ts';
import type { PullRequestRecord } from '../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { ManifestStatus } from '../../schemas/api/git-sync.ts';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import { counted } from '../plan-view/index.ts';
import { descends, GitRepositoryError, openRepository } from '../source/index.ts';

export type Progress =
  | {
      state: 'ready';
      pipelineId: string;
      version: number | null;
      /** Names of nodes that do not answer, and were not waited for; the first of them where they are many. */
      silentNodes: string[];
      silentNodeCount: number;
      note: string | null;
    }
  /** Under way: nobody has to do anything. */
  | { state: 'moving' }
  | { state: 'stuck'; why: string };

/** Reasons of Applied = False by which it goes on by itself. */
const PASSING = new Set(['Blocked', 'ApplyFailed']);

export async function progressOf(
  ctx: Context,
  binding: Binding,
  pull: Pick<PullRequestRecord, 'mergeSha' | 'number' | 'closedAt'>,
  targetName: string,
): Promise<Progress> {
  if (binding.suspendedAt !== null)
    return stuck(`Merged, but git is suspended in ${binding.environmentName}; resume it (gitSync.resume)`);
  const reached = await hasReached(ctx, binding, pull);
  const key = nameKeyOf(targetName);
  const manifest = await readManifestStatus(ctx, binding, { kind: 'Pipeline', nameKey: key });
  if (!reached) return waitsForPass(binding, pull);
  if (!manifest?.objectId)
    return manifest
      ? notApplied(manifest)
      : stuck(`Merged, but git has no pipeline "${targetName}" in ${binding.environmentName} any more`);
  if (!manifest.ready) return notApplied(manifest);
  const healthy = manifest.conditions.find(({ type }) => type === 'Healthy');
  if (healthy?.status === 'False') return stuck(`Merged and rolled out, but not well: ${healthy.message}`);
  const line = await readLine(ctx.db, binding.id, 'Pipeline', key);
  const { silentNodes, silentNodeCount } = manifest;
  return {
    state: 'ready',
    pipelineId: manifest.objectId,
    version: line?.objectVersion ?? null,
    ...{ silentNodes, silentNodeCount },
    note: manifest.conditions.some(({ type }) => type === 'RolledOut')
      ? silentNote(silentNodes, silentNodeCount)
      : 'Its manifest says deployed: false, so it is accepted and runs nowhere',
  };
}

const MAX_NAMES = 10;

/** `count`: how many they are, of whom `names` are the first. */
export function silentNote(names: readonly string[], count: number): string | null {
  if (count === 0) return null;
  const shown = names.slice(0, MAX_NAMES);
  if (count > shown.length) shown.push(`${count - shown.length} more`);
  return `Not waited for ${counted(count, 'node')} that ${count === 1 ? 'does' : 'do'} not answer: ${shown.join(', ')}`;
}

/** A pass that looked before the merge may have ended after it. */
const PASS_MS = 10_000;

const passedSince = (lastPassAt: Date | null, closedAt: Date | null): boolean =>
  lastPassAt !== null && closedAt !== null && lastPassAt.getTime() - closedAt.getTime() > PASS_MS;

const stuck = (why: string): Progress => ({ state: 'stuck', why });

/** Whether a pass has taken up the merge, or a commit on top of it. */
async function hasReached(
  ctx: Context,
  binding: Binding,
  { mergeSha, closedAt }: Pick<PullRequestRecord, 'mergeSha' | 'closedAt'>,
): Promise<boolean> {
  const { headCommit, lastPassAt } = binding;
  if (!headCommit) return false;
  // Nobody can tell with which commit it came in: whatever was looked at after it did has it.
  if (mergeSha === null) return closedAt !== null && lastPassAt !== null && lastPassAt > closedAt;
  const { gitdir } = ctx.services.repositories.of(binding);
  const repository = openRepository(gitdir);
  try {
    if (await descends(repository, headCommit.sha, mergeSha)) return true;
    // A copy without all of the history says little of what came before.
    return existsSync(join(gitdir, 'shallow')) && passedSince(lastPassAt, closedAt);
  } catch (error) {
    if (error instanceof GitRepositoryError) return false;
    throw error;
  } finally {
    await repository.close();
  }
}

function waitsForPass(
  { lastError, lastPassAt, ref }: Binding,
  { mergeSha, closedAt }: Pick<PullRequestRecord, 'mergeSha' | 'closedAt'>,
): Progress {
  if (lastError) return stuck(`Merged, but git cannot be read: ${lastError}`);
  return passedSince(lastPassAt, closedAt) && mergeSha !== null
    ? stuck(`Merged as ${mergeSha.slice(0, 7)}, which is not in ${ref} any more; promote again`)
    : { state: 'moving' };
}

function notApplied({ conditions }: ManifestStatus): Progress {
  const failed = conditions.filter(({ type, status }) => status === 'False' && type !== 'RolledOut');
  // Why the document is wrong says more than that it was refused.
  const why = failed.find(({ type }) => type !== 'Applied') ?? failed[0];
  if (why)
    return stuck(
      PASSING.has(why.reason)
        ? `Merged, and tried again by itself: ${why.message}`
        : `Merged, but not applied (${why.reason}): ${why.message}`,
    );
  const rolledOut = conditions.find(({ type }) => type === 'RolledOut');
  return rolledOut?.status === 'False' && rolledOut.reason !== 'InProgress'
    ? stuck(`Merged and applied, not rolled out yet: ${rolledOut.message}`)
    : { state: 'moving' };
}
