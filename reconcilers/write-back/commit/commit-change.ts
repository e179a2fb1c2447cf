/** A change as a commit on the very branch that is applied, in the name of who made it. */
import { listHolds, type OwnedChange, type Written } from '../../../controller/delivery/bindings/index.ts';
import { preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import type { Committed } from '../../../schemas/api/delivery/git-words.ts';
import type { Tip } from '../branch-tip.ts';
import { assertApplicable } from '../manifest/assert-applicable.ts';
import { manifestOf, type Rewrite, type RewriteOptions, rewrite } from '../manifest/rewrite.ts';
import { authorOf, messageOf, titleOf } from './commit-message.ts';
import { hostOf, type RepositoryLocation, wake } from './workspace.ts';

export async function commitChange(
  place: RepositoryLocation,
  change: OwnedChange,
): Promise<Written<Committed>> {
  const { ctx, binding } = place;
  const author = authorOf(ctx.actor, hostOf(ctx));
  const made = await place.commit({
    branch: binding.ref,
    async draft(sha) {
      const written = await rewritten(place, await place.tip(sha ?? ''), change);
      return { ...written, author, message: messageOf(titleOf(change, written.fields), change.operation) };
    },
  });
  if (!made) throw preconditionFailed('git already has this change; the next pass applies it');
  await wake(ctx, binding);
  const { path, line, fields } = made.draft;
  return { committed: { sha: made.sha, path, line }, fields };
}

/** @throws PRECONDITION_FAILED where what git has now is held: a change on top of it would let it in. */
export async function rewritten(
  { ctx, binding }: RepositoryLocation,
  tip: Tip,
  change: OwnedChange,
  options: RewriteOptions = {},
): Promise<Rewrite> {
  const { kind, nameKey, name, hash } = manifestOf(tip, change.before);
  const holds = options.overHeld ? [] : await listHolds(ctx.db, binding.id);
  const held = holds.find((one) => one.kind === kind && one.nameKey === nameKey && one.specHash === hash);
  if (held)
    throw preconditionFailed(
      `What git has of "${name}" is held (${held.by}: ${held.reason}), and your change would come on top of it; mend it in git, or release the hold first`,
    );
  const written = await rewrite(tip, change, options);
  if (written.manifest) await assertApplicable(ctx, binding.environmentId, written.manifest);
  return written;
}
