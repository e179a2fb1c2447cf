/** Authenticates a request by the key of a service account. */

import { parseToken, sameHash } from '../../../platform/crypto/tokens.ts';
import type { Actor, Context } from '../../../platform/operation/context.ts';
import { findKeyOwner, recordServiceAccountUse } from './store.ts';

export type ServiceAccountActor = Extract<Actor, { type: 'service_account' }>;

/** At most one write per hour and key: a program may send many requests a second. */
const TOUCH_MS = 3_600_000;

/** Null for an unknown, expired or revoked key. It queries the database each time, so that a revoked key ends at once. */
export async function actorOfApiKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  key: string,
): Promise<ServiceAccountActor | null> {
  const parsed = parseToken('svc', key);
  if (!parsed) return null;
  const now = ctx.clock.now();
  const owner = await findKeyOwner(ctx.db, parsed.id, new Date(now));
  if (!owner || !sameHash(owner.keyHash, parsed.hash)) return null;
  const before = now - TOUCH_MS;
  if (owner.lastUsedAt === null || owner.lastUsedAt.getTime() <= before) {
    await recordServiceAccountUse(ctx.db, owner.id, { now: new Date(now), before: new Date(before) });
  }
  return {
    type: 'service_account',
    id: owner.id,
    name: owner.name,
    environmentId: owner.environmentId,
    teamId: owner.teamId,
    permissions: new Set(owner.permissions),
  };
}
