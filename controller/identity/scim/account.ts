/** What SCIM does to the account of a user: creates, adopts and locks it, and lifts its own lock. */
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
import { scimConflict, uniquenessConflict } from './scim-errors.ts';
import { addressOf, displayNameOf } from './user-document.ts';
import { findIdByUserName, findUserRecord, type UserRecord } from './users-store.ts';

export interface ExistingAccount {
  user: User;
  /** Null for an account that SCIM does not manage yet. */
  record: UserRecord | null;
}

/** Locks the account for this transaction; for a super admin it locks all accounts, so that super admins can be counted. */
export async function lockAccount(ctx: MutationContext, id: string): Promise<User | null> {
  if ((await findUser(ctx.db, id))?.isSuperAdmin) await lockUsers(ctx.db);
  return lockUserRow(ctx.db, id);
}

/** Finds and locks the account with the user name or the address. */
export async function findAccount(
  ctx: MutationContext,
  attributes: UserAttributes,
): Promise<ExistingAccount | null> {
  const id =
    (await findIdByUserName(ctx.db, attributes.userName)) ??
    (await findUserByEmail(ctx.db, addressOf(attributes)))?.id;
  const user = id === undefined ? null : await lockAccount(ctx, id);
  return user && { user, record: await findUserRecord(ctx.db, user.id) };
}

/** Creates an account without a password: the user signs in at the identity provider. */
export const createAccount = (ctx: MutationContext, attributes: UserAttributes): Promise<string> =>
  insertUser(ctx.db, {
    email: addressOf(attributes),
    name: displayNameOf(attributes),
    passwordHash: null,
    isSuperAdmin: false,
    authMethod: 'OIDC',
  });

/**
 * SCIM adopts only accounts that a sign-in at an identity provider created, and no super admins: it must not give access to an
 * account that somebody else created.
 * @throws CONFLICT for any other account.
 */
export function assertAdoptable({ email, authMethod, passwordHash, isSuperAdmin }: User): void {
  if (isSuperAdmin)
    throw uniquenessConflict(
      `${email} is the account of a super admin here, which SCIM does not take over; remove it from the provider's assignments, or revoke that right first`,
    );
  if (authMethod === 'PASSWORD' || passwordHash !== null)
    throw uniquenessConflict(
      `${email} is an account here that signs in by password, which SCIM does not take over; delete it here or change its address, then sync again`,
    );
}

/** Call it after the lock, which an error rolls back: a super admin who can sign in must remain. */
async function assertNotLastSuperAdmin(ctx: MutationContext, user: User): Promise<void> {
  if ((await countSuperAdmins(ctx.db, ctx.clock.now())) > 0) return;
  throw scimConflict(
    `${user.email} is the last super admin who can sign in here; make another user a super admin first, then sync again`,
  );
}

/** Locks the account and ends all its sessions, or lifts the lock unless an administrator set it. */
export async function setActive(ctx: MutationContext, user: User, active: boolean): Promise<void> {
  if (active) {
    if (user.lockedBy === 'scim') await setUnlocked(ctx.db, user.id);
    return;
  }
  const isActiveSuperAdmin = user.isSuperAdmin && user.lockedAt === null;
  if (isActiveSuperAdmin) await lockUsers(ctx.db);
  await setLocked(ctx.db, user.id, 'scim', new Date(ctx.clock.now()));
  if (isActiveSuperAdmin) await assertNotLastSuperAdmin(ctx, user);
  await endSessions(ctx, [user.id]);
}
