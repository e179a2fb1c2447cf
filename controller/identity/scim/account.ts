/** What SCIM may do to the account behind a user: make it, adopt it, lock it, and lift a lock of its own. */
import type { UserAttributes } from '../../../schemas/scim/user.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import {
  countSuperAdmins,
  endSessions,
  findUser,
  findUserByEmail,
  insertUser,
  lockUserRow,
  lockUsers,
  setLocked,
  setUnlocked,
  type User,
} from '../access/index.ts';
import { inTheWay, taken } from './refusals.ts';
import { addressOf, displayNameOf } from './user-document.ts';
import { findIdByUserName, findUserRecord, type UserRecord } from './users-store.ts';

export interface Known {
  user: User;
  /** Null for an account that SCIM has not kept so far. */
  record: UserRecord | null;
}

/** The account, locked for this transaction; for a super admin all are, so that they can be counted. */
export async function takeAccount(ctx: MutationContext, id: string): Promise<User | null> {
  if ((await findUser(ctx.db, id))?.isSuperAdmin) await lockUsers(ctx.db);
  return lockUserRow(ctx.db, id);
}

/** Who has the user name or the address, with the account locked for this transaction. */
export async function findAccount(ctx: MutationContext, attributes: UserAttributes): Promise<Known | null> {
  const id =
    (await findIdByUserName(ctx.db, attributes.userName)) ??
    (await findUserByEmail(ctx.db, addressOf(attributes)))?.id;
  const user = id === undefined ? null : await takeAccount(ctx, id);
  return user && { user, record: await findUserRecord(ctx.db, user.id) };
}

/** Without a password: whoever it is signs in at the identity provider. */
export const makeAccount = (ctx: MutationContext, attributes: UserAttributes): Promise<string> =>
  insertUser(ctx.db, {
    email: addressOf(attributes),
    name: displayNameOf(attributes),
    passwordHash: null,
    isSuperAdmin: false,
    authMethod: 'OIDC',
  });

/**
 * Only an account that a sign-in at an identity provider made, and that may not everything, is handed over: SCIM must be
 * no way into an account that somebody else made.
 * @throws CONFLICT for any other one.
 */
export function assertAdoptable({ email, authMethod, passwordHash, isSuperAdmin }: User): void {
  if (isSuperAdmin)
    throw taken(
      `${email} is the account of a super admin here, which SCIM does not take over; leave it out of the provider's assignments, or take that right from it first`,
    );
  if (authMethod === 'PASSWORD' || passwordHash !== null)
    throw taken(
      `${email} is an account here that signs in by password, which SCIM does not take over; delete it here or change its address, then sync again`,
    );
}

/** After the lock, which is undone by this: the last super admin who can sign in stays one who can. */
async function refuseLastAdmin(ctx: MutationContext, user: User): Promise<void> {
  if ((await countSuperAdmins(ctx.db, ctx.clock.now())) > 0) return;
  throw inTheWay(
    `${user.email} is the last super admin who can sign in here; make somebody else one first, then sync again`,
  );
}

/** Locked, and every session ends at once; or not locked any more, unless an administrator did it. */
export async function setActive(ctx: MutationContext, user: User, active: boolean): Promise<void> {
  if (active) {
    if (user.lockedBy === 'scim') await setUnlocked(ctx.db, user.id);
    return;
  }
  const counts = user.isSuperAdmin && user.lockedAt === null;
  if (counts) await lockUsers(ctx.db);
  await setLocked(ctx.db, user.id, 'scim', new Date(ctx.clock.now()));
  if (counts) await refuseLastAdmin(ctx, user);
  await endSessions(ctx, [user.id]);
}
