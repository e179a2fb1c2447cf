/** Whether a code is right, and the first to use it. */

import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Context } from '../../../platform/operation/context.ts';
import type { User } from '../users/users-store.ts';
import { backupCodeHash, stepOf } from './codes.ts';
import { takeBackupCode, takeStep } from './store.ts';

export type Factor = 'totp' | 'backup_code';

/** The secret of somebody's authenticator, whether it is in force or not. */
export function openSecret(ctx: Pick<Context, 'services'>, user: User): string | null {
  if (user.sealedTotpSecret === null) return null;
  return ctx.services.keyring.open(
    user.sealedTotpSecret,
    sealingContext('users', user.id, 'sealed_totp_secret'),
  );
}

/**
 * What a code of the authenticator or a backup code was; it is used up by this, whatever becomes of the rest. Null for one
 * that is wrong or was used. One atomic statement decides, so that of many at once one succeeds (ASVS 5.0 6.5.1).
 */
export async function takeCode(
  ctx: Pick<Context, 'db' | 'clock' | 'services'>,
  user: User,
  code: string,
): Promise<Factor | null> {
  const secret = user.totpEnabled ? openSecret(ctx, user) : null;
  if (secret === null) return null;
  const now = ctx.clock.now();
  const step = stepOf(secret, code, now);
  if (step !== null) return (await takeStep(ctx.db, user.id, step)) ? 'totp' : null;
  const codeHash = backupCodeHash(code);
  if (codeHash === null) return null;
  return (await takeBackupCode(ctx.db, user.id, { codeHash, at: new Date(now) })) ? 'backup_code' : null;
}
