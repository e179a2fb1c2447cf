import type { Actor, Context } from '../../../platform/operation/context.ts';
import { forbidden, unauthorized } from '../../../platform/operation/errors.ts';
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

/** Locks the caller's account until the transaction ends. */
export async function lockCallerAccount(ctx: Context): Promise<User> {
  const user = await lockUserRow(ctx.db, caller(ctx).userId);
  if (!user) throw unauthorized();
  return user;
}
