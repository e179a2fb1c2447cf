/** The only token of SCIM, `scim_` and 64 hex digits: sealed in the settings, and compared as digests in constant time. */

import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import { hashSecret, sameHash } from '../../platform/crypto/tokens.ts';
import type { Context } from '../../platform/operation/context.ts';
import { readScimSettings, recordScimUse } from './settings-store.ts';

export const SCIM_TOKEN_PREFIX = 'scim_';
const FORM = /^scim_[0-9a-f]{64}$/;
/** At most one write per hour: a sync sends many requests a second. */
const TOUCH_MS = 3_600_000;

/** Whether SCIM is on and this is its token. It queries the database each time, so that a revoked token ends at once. */
export async function isScimToken(
  ctx: Pick<Context, 'db' | 'clock' | 'services'>,
  given: string,
): Promise<boolean> {
  if (given.length > 128 || !FORM.test(given)) return false;
  const { enabled, sealedToken, lastUsedAt } = await readScimSettings(ctx.db);
  if (!enabled || sealedToken === null) return false;
  const token = ctx.services.keyring.open(sealedToken, sealingContext('scim_settings', 'scim'));
  if (!sameHash(hashSecret(token), hashSecret(given))) return false;
  const now = ctx.clock.now();
  const before = new Date(now - TOUCH_MS);
  if (lastUsedAt === null || lastUsedAt <= before)
    await recordScimUse(ctx.db, { now: new Date(now), before });
  return true;
}
