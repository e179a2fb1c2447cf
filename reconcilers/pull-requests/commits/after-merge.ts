/**
 * What forges are told of a commit once it is in the bound branch: under way, then done only when it is rolled out. What failed
 * is told before what mended it. Rows are kept where there is no forge, too: pages show them.
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
  /** Null where nobody is told, or not at the moment. */
  forge: Forge | null;
  leads(): boolean;
  aside<T>(work: () => Promise<T>): Promise<T>;
}

/** What becomes of the commit: `settled` asks for no further look. */
export interface FollowedCommits {
  state: 'settled' | 'pending' | 'failed';
  /** What the forge will not take. */
  refused: string | null;
}

type Told = Pick<KnownCommitStatus, 'sha' | 'state' | 'description'>;

/** @throws ForgeError where the forge takes nothing at the moment */
export async function followCommits(work: AfterMerge): Promise<FollowedCommits> {
  const { ctx, binding } = work;
  const { environmentId } = binding;
  const head = binding.headCommit?.sha ?? null;
  if (binding.mode !== 'sync' || head === null) return { state: 'settled', refused: null };
  const rows = await listCommitStatuses(ctx.db, environmentId);
  let refused: string | null = null;
  const tell = async (row: Told, posted: string | null) => {
    refused = (await post(work, row, posted)) ?? refused;
  };
  // Before anything is written over: what failed has to be seen as failed.
  for (const row of rows.toReversed()) await tell(row, row.posted);
  for (const row of rows)
    if (row.sha !== head && row.state === 'pending')
      await tell(await save(work, row.sha, supersededBy(head)), row.posted);
  const known = rows.find(({ sha }) => sha === head);
  if (known && isDone(known)) return { state: 'settled', refused };
  const status = await readSyncStatus(ctx, environmentId);
  const now = status.headCommit?.sha === head ? commitProgressOf(status) : null;
  // A pass has gone on meanwhile: it is looked at again.
  if (now === null) return { state: 'pending', refused };
  const isNew = known?.state !== now.state || known.description !== now.description;
  if (isNew && !(known && isUntold(work, known)))
    await tell(await save(work, head, now), known?.posted ?? null);
  const state = now.state === 'success' ? 'settled' : now.state === 'failure' ? 'failed' : 'pending';
  return { state, refused };
}

/** Rolled out once is rolled out; but what was superseded may be what is wanted again. */
const isDone = ({ state, description }: Told): boolean =>
  state === 'success' && !description.startsWith('superseded by ');

/** A failure that the forge has not heard of yet; what came after it waits. */
const isUntold = ({ ctx, binding, forge }: AfterMerge, row: KnownCommitStatus): boolean =>
  forge === null &&
  binding.forge !== 'none' &&
  row.state === 'failure' &&
  row.posted !== reportOf(ctx, binding, row).digest;

async function save({ ctx, binding }: AfterMerge, sha: string, to: CommitProgress): Promise<Told> {
  const { environmentId } = binding;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    if (await saveCommitStatus(tx, { environmentId, sha, ...to }, new Date(ctx.clock.now())))
      await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['promotions'] });
  });
  return { sha, ...to };
}

/** Answers what the forge will not take; then it is not asked again. */
async function post(
  { ctx, binding, forge, leads, aside }: AfterMerge,
  row: Told,
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
    // Of a commit that is in already nobody waits for it: what is not allowed there holds up no pull request.
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

function reportOf({ services }: Context, binding: Binding, { sha, state, description }: Told) {
  const url = gitPageUrl(services.baseUrl, binding.environmentId);
  const report = { context: statusContext(binding), state, description, url, ref: binding.ref };
  return { report, digest: digestOf(sha, state, description, url, report.context) };
}
