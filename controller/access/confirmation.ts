/** A password or a code that somebody who is signed in gives once more, before something that only they may do. */
import { writeAudit } from '../platform/audit-writer.ts';
import type { Context } from '../platform/context.ts';
import { badRequest } from '../platform/errors.ts';
import { ownScope } from '../platform/operation.ts';
import { beginAttempt } from './attempts.ts';
import type { User } from './users-store.ts';

/**
 * Counted like sign-ins: a session that was left open gives nobody more guesses. Outside of the transaction, so that what was
 * counted and used up stays so.
 * @throws BAD_REQUEST with `refusal` where it is wrong, TOO_MANY_REQUESTS after too many.
 */
export async function confirmedBy<T>(
  ctx: Context,
  user: User,
  { by, refusal }: { by: () => Promise<T | null | false>; refusal: string },
): Promise<T> {
  const attempt = await beginAttempt(ctx, user.email);
  let proof: T | null | false;
  try {
    proof = await by();
  } catch (error) {
    await attempt.takeBack(ctx.db);
    throw error;
  }
  if (proof === null || proof === false) {
    await writeAudit(
      ctx,
      ownScope,
      [{ entityType: 'User', entityId: user.id, metadata: { name: user.name } }],
      'user.confirmationFailed',
    );
    throw badRequest(refusal);
  }
  await attempt.takeBack(ctx.db);
  return proof;
}
