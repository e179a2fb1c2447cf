/** Asks a signed-in user for their password or code again before a sensitive change. */
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, DomainError } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { beginAttempt, sessionCounter } from '../sign-in/attempts.ts';
import { caller } from '../users/caller.ts';
import type { User } from '../users/users-store.ts';
import { readConfirmedAt } from './sessions-store.ts';

/** How long a sign-in or a confirmed password proves that the user is at the keyboard. */
const CONFIRMED_MS = 10 * 60_000;

/**
 * For changes that outlast the session: somebody who finds it open must not be able to make them. OWASP ASVS 5.0 7.5.1.
 * @throws PRECONDITION_FAILED with `confirmWith`, the procedure that confirms the session.
 */
export async function assertConfirmed(ctx: Context): Promise<void> {
  const confirmedAt = await readConfirmedAt(ctx.db, caller(ctx).sessionId);
  if (confirmedAt !== null && ctx.clock.now() - confirmedAt.getTime() < CONFIRMED_MS) return;
  throw new DomainError(
    'PRECONDITION_FAILED',
    'Confirm your password first with user.confirmPassword: your last sign-in was more than 10 minutes ago',
    { confirmWith: 'user.confirmPassword' },
  );
}

/**
 * Counts failures like those of sign-ins, so that an open session gives nobody more guesses. Each session has its own count, so
 * that unauthenticated requests do not block its owner. It runs outside the transaction, so that counts and consumed codes stay.
 * @throws BAD_REQUEST with `refusal` after a wrong answer, TOO_MANY_REQUESTS after too many.
 */
export async function confirmIdentity<T>(
  ctx: Context,
  user: User,
  { verify, refusal }: { verify: () => Promise<T | null | false>; refusal: string },
): Promise<T> {
  const attempt = await beginAttempt(ctx, sessionCounter(caller(ctx).sessionId));
  let proof: T | null | false;
  try {
    proof = await verify();
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
