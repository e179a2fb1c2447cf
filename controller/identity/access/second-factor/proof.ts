/** Checks a code of the second factor and consumes it, so that it works once. */

import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Context } from '../../../platform/operation/context.ts';
import type { User } from '../users/users-store.ts';
import { hashBackupCode, matchTotpStep } from './codes.ts';
import { consumeBackupCode, consumeTotpStep } from './store.ts';

export type Factor = 'totp' | 'backup_code';

/** The secret of the user's authenticator, also before it is turned on. */
export function openSecret(ctx: Pick<Context, 'services'>, user: User): string | null {
  if (user.sealedTotpSecret === null) return null;
  return ctx.services.keyring.open(
    user.sealedTotpSecret,
    sealingContext('users', user.id, 'sealed_totp_secret'),
  );
}

/**
 * Consumes a code of the authenticator or a backup code, whatever happens afterwards. Null for a wrong or used code. One atomic
 * statement decides, so that only one of many concurrent attempts succeeds (ASVS 5.0 6.5.1).
 */
export async function consumeCode(
  ctx: Pick<Context, 'db' | 'clock' | 'services'>,
  user: User,
  code: string,
): Promise<Factor | null> {
  const secret = user.totpEnabled ? openSecret(ctx, user) : null;
  if (secret === null) return null;
  const now = ctx.clock.now();
  const step = matchTotpStep(secret, code, now);
  if (step !== null) return (await consumeTotpStep(ctx.db, user.id, step)) ? 'totp' : null;
  const codeHash = hashBackupCode(code);
  if (codeHash === null) return null;
  return (await consumeBackupCode(ctx.db, user.id, { codeHash, at: new Date(now) })) ? 'backup_code' : null;
}
