/** A change as a branch of its own, with a row that asks for a review. */
import type { OwnedChange, WrittenProposal } from '../../../controller/delivery/bindings/index.ts';
import {
  closePullRequest,
  findOwnProposal,
  type PullRequestRecord,
  pullRequestUrl,
  updatePullRequest,
} from '../../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { descends, resolveRef } from '../../source/index.ts';
import { rewritten } from '../commit/commit-change.ts';
import { authorOf, identityOf, messageOf, titleOf } from '../commit/commit-message.ts';
import { hostOf, type RepositoryLocation, wake } from '../commit/workspace.ts';
import { slugOf } from '../manifest/file-names.ts';
import type { Rewrite } from '../manifest/rewrite.ts';

const SLUG = 50;
const AND_MORE = ', and more';
/** Forges take a little more. */
const LONGEST_BODY = 60_000;

export interface ProposeOptions {
  overHeld?: boolean;
  /** For people, above what it changes. */
  reason?: string;
}

/** A second change of the same object by the same person goes on top of the first, as long as that one is open. */
export async function propose(
  place: RepositoryLocation,
  change: OwnedChange,
  { overHeld = false, reason }: ProposeOptions = {},
): Promise<WrittenProposal> {
  const { ctx, binding } = place;
  const who = identityOf(ctx.actor);
  const known = await findOwnProposal(ctx.db, { bindingId: binding.id, ...who, objectId: change.objectId });
  const open = known && (await stillOpen(place, known)) ? known : null;
  const branch =
    open?.branch ??
    `headgate/${kebab(change.before.kind)}/${slugOf(change.before.name).slice(0, SLUG)}-${newId().slice(-8)}`;
  const base = await baseOf(place);
  // A conflict with git is reported now, and not only at the merge.
  const fresh = await rewritten(place, await place.tip(base), change, { overHeld });
  const made = await place.commit({
    branch,
    ...(open ? {} : { from: base }),
    draft: async (sha) => {
      const written: Rewrite =
        sha === base || sha === null
          ? fresh
          : await rewritten(place, await place.tip(sha), change, { own: true, overHeld });
      const title = change.texts?.title ?? titleOf(change, written.fields);
      return {
        ...written,
        title,
        author: authorOf(ctx.actor, hostOf(ctx)),
        message: messageOf(title, change.operation),
      };
    },
  });
  if (!made) throw preconditionFailed('The branch already has this change');
  const pull = open
    ? await renew(place, open, change, { sha: made.sha, title: made.draft.title })
    : await openNew(place, change, {
        branch,
        sha: made.sha,
        title: made.draft.title,
        body: bodyOf(change, fresh.fields, reason),
      });
  await wake(ctx, binding);
  const url = pullRequestUrl(ctx, binding.environmentId, pull);
  return { proposed: { number: pull.number, url, branch }, fields: fresh.fields, pullRequestId: pull.id };
}

const kebab = (kind: string): string =>
  kind.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

export async function baseOf({ binding, repository, fetch }: RepositoryLocation): Promise<string> {
  const ref = `refs/heads/${binding.ref}`;
  await fetch(ref);
  const base = await resolveRef(repository, ref);
  if (base === null) throw conflict(`The branch "${binding.ref}" does not exist in the repository any more`);
  return base;
}

/** One whose branch is gone, or has come into the base, is over: the row says so from now on. */
async function stillOpen(
  { ctx, binding, repository }: RepositoryLocation,
  known: PullRequestRecord,
): Promise<boolean> {
  const { pullRequests } = ctx.services;
  const mergeState = await pullRequests.readMergeState(ctx, binding, known);
  if (mergeState && !mergeState.isIn) return true;
  // A forge says itself what became of it.
  if (known.forge !== 'headgate') return false;
  const base = await resolveRef(repository, `refs/heads/${known.base}`);
  const isMerged =
    mergeState !== null || (base !== null && (await descends(repository, base, known.headSha)));
  await closePullRequest(ctx.db, known, {
    state: isMerged ? 'merged' : 'closed',
    ...(isMerged ? { mergeSha: base, newHead: mergeState?.headSha ?? known.headSha } : {}),
  });
  return false;
}

/** What reviewers read tells of all that the branch does. */
async function renew(
  { ctx, binding }: RepositoryLocation,
  known: PullRequestRecord,
  change: OwnedChange,
  { sha, title }: { sha: string; title: string },
): Promise<PullRequestRecord> {
  const isDeletion = change.after === null;
  const isTitled = isDeletion || known.title === title || known.title.endsWith(AND_MORE);
  await updatePullRequest(ctx.db, known.id, { headSha: sha, pushedSha: sha });
  const edit = {
    title: isDeletion ? title : isTitled ? known.title : `${known.title}${AND_MORE}`,
    ...(isDeletion ? { body: bodyOf(change, [], undefined) } : {}),
    ...(change.texts ? { body: `${known.body}\n\n${change.texts.body}`.slice(0, LONGEST_BODY) } : {}),
  };
  await ctx.services.pullRequests.edit(ctx, binding, known, edit);
  return { ...known, ...edit, headSha: sha };
}

function bodyOf(
  { after, texts }: OwnedChange,
  fields: readonly string[],
  reason: string | undefined,
): string {
  const what = after === null ? 'Deletes the manifest.' : `Changes ${fields.slice(0, 50).join(', ')}.`;
  if (texts) return `${texts.body}\n\n${what}`;
  return reason ? `${reason}. ${what}` : what;
}

function openNew(
  place: RepositoryLocation,
  { objectId, operation, before }: OwnedChange,
  { branch, sha, title, body }: { branch: string; sha: string; title: string; body: string },
): Promise<PullRequestRecord> {
  return openOnBranch(place, {
    ...{ title, body, branch, base: place.binding.ref, headSha: sha, pushedSha: sha },
    subject: { kind: before.kind, name: before.name, objectId, operation },
    ...identityOf(place.ctx.actor),
  });
}

/** For a branch that was pushed just now. Where it fails the branch is deleted again: the next try makes another one. */
export async function openOnBranch(
  { ctx, binding }: RepositoryLocation,
  request: Parameters<Context['services']['pullRequests']['open']>[2],
): Promise<PullRequestRecord> {
  const { pullRequests } = ctx.services;
  try {
    return await pullRequests.open(ctx, binding, request);
  } catch (error) {
    await pullRequests.removeBranch(ctx, binding, request);
    throw error;
  }
}
