/**
 * Publishes the status of a commit once it is in the bound branch: pending, then success only when it is rolled out. A failure
 * is published before the success that follows it. Statuses are stored without a forge too, because the UI shows them.
 */
import { type Binding, gitPageUrl, readSyncStatus } from '../../../controller/delivery/bindings/index.ts';
import {
  type KnownCommitStatus,
  listCommitStatuses,
  markCommitStatusPublished,
  saveCommitStatus,
} from '../../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { type Forge, ForgeError, ForgeReply } from '../../forges/forge.ts';
import { digestOf, statusContext } from '../check/publish-checks.ts';
import { type CommitProgress, commitProgressOf, supersededBy } from './commit-status.ts';

export interface AfterMerge {
  ctx: Context;
  binding: Binding;
  /** Null where there is no forge, or where it is paused. */
  forge: Forge | null;
  leads(): boolean;
  aside<T>(work: () => Promise<T>): Promise<T>;
}

/** The state of the head commit; `settled` needs no further pass. */
export interface FollowedCommits {
  state: 'settled' | 'pending' | 'failed';
  /** The forge's refusal to take a status. */
  refused: string | null;
}

type Status = Pick<KnownCommitStatus, 'sha' | 'state' | 'description'>;

/** @throws ForgeError where the forge cannot be reached or pauses us */
export async function followCommits(work: AfterMerge): Promise<FollowedCommits> {
  const { ctx, binding } = work;
  const { environmentId } = binding;
  const head = binding.headCommit?.sha ?? null;
  if (binding.mode !== 'sync' || head === null) return { state: 'settled', refused: null };
  const rows = await listCommitStatuses(ctx.db, environmentId);
  let refused: string | null = null;
  const publish = async (row: Status, posted: string | null) => {
    refused = (await post(work, row, posted)) ?? refused;
  };
  // Before any row is overwritten, so that a failure is published as a failure.
  for (const row of rows.toReversed()) await publish(row, row.posted);
  for (const row of rows)
    if (row.sha !== head && row.state === 'pending')
      await publish(await save(work, row.sha, supersededBy(head)), row.posted);
  const known = rows.find(({ sha }) => sha === head);
  if (known && isDone(known)) return { state: 'settled', refused };
  const status = await readSyncStatus(ctx, environmentId);
  const now = status.headCommit?.sha === head ? commitProgressOf(status) : null;
  // A git pass has changed the head meanwhile: the next pass follows it.
  if (now === null) return { state: 'pending', refused };
  const isNew = known?.state !== now.state || known.description !== now.description;
  if (isNew && !(known && isUnpublishedFailure(work, known)))
    await publish(await save(work, head, now), known?.posted ?? null);
  const state = now.state === 'success' ? 'settled' : now.state === 'failure' ? 'failed' : 'pending';
  return { state, refused };
}

/** A rolled out commit stays so; a superseded one may become the head again. */
const isDone = ({ state, description }: Status): boolean =>
  state === 'success' && !description.startsWith('superseded by ');

/** While the forge is paused, later states wait for a failure that is not published. */
const isUnpublishedFailure = ({ ctx, binding, forge }: AfterMerge, row: KnownCommitStatus): boolean =>
  forge === null &&
  binding.forge !== 'none' &&
  row.state === 'failure' &&
  row.posted !== reportOf(ctx, binding, row).digest;

async function save({ ctx, binding }: AfterMerge, sha: string, to: CommitProgress): Promise<Status> {
  const { environmentId } = binding;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    if (await saveCommitStatus(tx, { environmentId, sha, ...to }, new Date(ctx.clock.now())))
      await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['promotions'] });
  });
  return { sha, ...to };
}

/** Returns the forge's refusal, after which the status is not sent again. */
async function post(
  { ctx, binding, forge, leads, aside }: AfterMerge,
  row: Status,
  posted: string | null,
): Promise<string | null> {
  if (forge === null || !leads()) return null;
  const { environmentId } = binding;
  const { report, digest } = reportOf(ctx, binding, row);
  if (digest === posted) return null;
  let refused: string | null = null;
  try {
    await aside(() => forge.setStatus(row.sha, report));
  } catch (error) {
    // No pull request waits for the status of a merged commit, so a denied status counts as published.
    const isDenied = error instanceof ForgeReply && error.status === 403;
    const isFinal = error instanceof ForgeError && (error.fault === 'refused' || error.fault === 'not-found');
    if (!isDenied && !isFinal) throw error;
    refused = error.message;
  }
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await markCommitStatusPublished(tx, { environmentId, sha: row.sha }, digest);
  });
  return refused;
}

function reportOf({ services }: Context, binding: Binding, { sha, state, description }: Status) {
  const url = gitPageUrl(services.baseUrl, binding.environmentId);
  const report = { context: statusContext(binding), state, description, url, ref: binding.ref };
  return { report, digest: digestOf(sha, state, description, url, report.context) };
}
