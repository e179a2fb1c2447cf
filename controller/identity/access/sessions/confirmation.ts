/** A password or a code that somebody who is signed in gives once more, before something that only they may do. */
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, DomainError } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { beginAttempt, ofSession } from '../sign-in/attempts.ts';
import { caller } from '../users/caller.ts';
import type { User } from '../users/users-store.ts';
import { readConfirmedAt } from './sessions-store.ts';

/** How long a sign-in or a confirmed password stands for the user at the keyboard. */
const CONFIRMED_MS = 10 * 60_000;

/**
 * For changes that outlast the session: whoever finds it open must not make them. OWASP ASVS 5.0 7.5.1.
 * @throws PRECONDITION_FAILED with `confirmWith`, the procedure that confirms the session.
 */
export async function assertConfirmed(ctx: Context): Promise<void> {
  const confirmedAt = await readConfirmedAt(ctx.db, caller(ctx).sessionId);
  if (confirmedAt !== null && ctx.clock.now() - confirmedAt.getTime() < CONFIRMED_MS) return;
  throw new DomainError(
    'PRECONDITION_FAILED',
    'Confirm your password first, by user.confirmPassword: your last sign-in was more than 10 minutes ago',
    { confirmWith: 'user.confirmPassword' },
  );
}

/**
 * Failures are counted like those of sign-ins: a session that was left open gives nobody more guesses. The count is the
 * session's own, so that guesses of strangers do not hinder its owner. Outside of the transaction, so that what was counted
 * and used up stays so.
 * @throws BAD_REQUEST with `refusal` where it is wrong, TOO_MANY_REQUESTS after too many.
 */
export async function confirmedBy<T>(
  ctx: Context,
  user: User,
  { by, refusal }: { by: () => Promise<T | null | false>; refusal: string },
): Promise<T> {
  const attempt = await beginAttempt(ctx, ofSession(caller(ctx).sessionId));
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
