import type { Actor, Context } from '../../../platform/operation/context.ts';
import { forbidden, unauthorized } from '../../../platform/operation/errors.ts';
import { findSessionOwner } from '../sessions/sessions-store.ts';
import { findUser, lockUserRow, type User } from './users-store.ts';

type UserActor = Extract<Actor, { type: 'user' }>;

/** The signed-in user of the request. @throws FORBIDDEN for any other actor. */
export function caller(ctx: Context): UserActor {
  if (ctx.actor.type !== 'user') throw forbidden('Only a signed-in user has an account');
  return ctx.actor;
}

export async function getCallerAccount(ctx: Context): Promise<User> {
  const user = await findUser(ctx.db, caller(ctx).userId);
  if (!user) throw unauthorized();
  return user;
}

/**
 * Call it after each lock that a change of the caller's own rights holds: the rights in `ctx` are from before the wait. Such a
 * change ends the sessions of the user. Personal tokens do not run operations that call it.
 *
 * @throws UNAUTHORIZED where a user's session has ended
 */
export async function assertStillSignedIn({ db, actor }: Pick<Context, 'db' | 'actor'>): Promise<void> {
  if (actor.type === 'user' && !(await findSessionOwner(db, actor.sessionId))) throw unauthorized();
}

/** Locks the caller's account until the transaction ends. @throws UNAUTHORIZED where the session ended meanwhile */
export async function lockCallerAccount(ctx: Context): Promise<User> {
  const user = await lockUserRow(ctx.db, caller(ctx).userId);
  await assertStillSignedIn(ctx);
  if (!user) throw unauthorized();
  return user;
}
