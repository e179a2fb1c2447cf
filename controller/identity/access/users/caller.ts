import type { Actor, Context } from '../../../platform/operation/context.ts';
import { forbidden, unauthorized } from '../../../platform/operation/errors.ts';
import { findUser, lockUserRow, type User } from './users-store.ts';

type UserActor = Extract<Actor, { type: 'user' }>;

/** Who asks, where that is a person. @throws FORBIDDEN where it is not. */
export function caller(ctx: Context): UserActor {
  if (ctx.actor.type !== 'user') throw forbidden('Only a signed-in user has an account');
  return ctx.actor;
}

export async function callersAccount(ctx: Context): Promise<User> {
  const user = await findUser(ctx.db, caller(ctx).userId);
  if (!user) throw unauthorized();
  return user;
}

/** In a transaction: nobody else changes the account until it ends. */
export async function lockCallersAccount(ctx: Context): Promise<User> {
  const user = await lockUserRow(ctx.db, caller(ctx).userId);
  if (!user) throw unauthorized();
  return user;
}
