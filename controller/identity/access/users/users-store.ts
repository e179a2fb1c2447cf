/** User accounts. */
import type { Knex } from 'knex';
import type { AuthMethod } from '../../../../schemas/api/identity/people.ts';
import { brokeUnique } from '../../../database/errors.ts';
import { conflict } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { PASSWORD_ALLOWED } from './account-rest-store.ts';

export type LockedBy = 'admin' | 'scim';

export interface User {
  id: string;
  email: string;
  name: string;
  authMethod: AuthMethod;
  passwordHash: string | null;
  isSuperAdmin: boolean;
  totpEnabled: boolean;
  sealedTotpSecret: string | null;
  lockedAt: Date | null;
  /** Null where the account is not locked. */
  lockedBy: LockedBy | null;
  mustChangePassword: boolean;
  /** The expiry of a temporary password. */
  passwordExpiresAt: Date | null;
  passwordChangedAt: Date | null;
  lastSignInAt: Date | null;
  /** When a super admin last unlinked the account; null after it is linked again. */
  relinkAllowedAt: Date | null;
  createdAt: Date;
}

export interface UserRow {
  id: string;
  email: string;
  name: string;
  auth_method: AuthMethod;
  password_hash: string | null;
  is_super_admin: boolean;
  totp_enabled: boolean;
  sealed_totp_secret: string | null;
  locked_at: Date | null;
  locked_by: LockedBy | null;
  must_change_password: boolean;
  password_expires_at: Date | null;
  password_changed_at: Date | null;
  last_sign_in_at: Date | null;
  relink_allowed_at: Date | null;
  super_admin_by: string | null;
  is_break_glass: boolean;
  created_at: Date;
}

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    authMethod: row.auth_method,
    passwordHash: row.password_hash,
    isSuperAdmin: row.is_super_admin,
    totpEnabled: row.totp_enabled,
    sealedTotpSecret: row.sealed_totp_secret,
    lockedAt: row.locked_at,
    lockedBy: row.locked_at === null ? null : (row.locked_by ?? 'admin'),
    mustChangePassword: row.must_change_password,
    passwordExpiresAt: row.password_expires_at,
    passwordChangedAt: row.password_changed_at,
    lastSignInAt: row.last_sign_in_at,
    relinkAllowedAt: row.relink_allowed_at,
    createdAt: row.created_at,
  };
}

export async function findUserByEmail(db: Knex, email: string): Promise<User | null> {
  const row: UserRow | undefined = await db('users').whereRaw('lower(email) = lower(?)', [email]).first();
  return row ? toUser(row) : null;
}

export async function findUser(db: Knex, id: string): Promise<User | null> {
  const row: UserRow | undefined = await db('users').where({ id }).first();
  return row ? toUser(row) : null;
}

/**
 * Locks the account until the transaction ends; null where it does not exist. The table is locked before the row, for the change
 * that follows: otherwise a transaction under `lockUsers` could wait for the row while this one waits for the table.
 */
export async function lockUserRow(tx: Knex, id: string): Promise<User | null> {
  await tx.raw('LOCK TABLE users IN ROW EXCLUSIVE MODE');
  const row: UserRow | undefined = await tx('users').where({ id }).forUpdate().first();
  return row ? toUser(row) : null;
}

/** Blocks inserts and changes of users until the transaction ends, for checks that count accounts. */
export async function lockUsers(tx: Knex): Promise<void> {
  await tx.raw('LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
}

export async function countUsers(db: Knex): Promise<number> {
  const row = await db('users').count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

export interface NewUser {
  email: string;
  name: string;
  /** Null for an account without a password. */
  passwordHash: string | null;
  isSuperAdmin: boolean;
  authMethod?: AuthMethod;
  /** The expiry of a temporary password, which the user has to change. */
  passwordExpiresAt?: Date;
}

/** @throws CONFLICT where the address is taken; upper and lower case count as equal. */
export async function insertUser(db: Knex, user: NewUser): Promise<string> {
  const id = newId();
  try {
    await db('users').insert({
      id,
      email: user.email,
      name: user.name,
      password_hash: user.passwordHash,
      is_super_admin: user.isSuperAdmin,
      auth_method: user.authMethod ?? 'PASSWORD',
      must_change_password: user.passwordExpiresAt !== undefined,
      password_expires_at: user.passwordExpiresAt ?? null,
    });
  } catch (error) {
    if (brokeUnique(error, 'users_email_unique'))
      throw conflict(`An account with the address ${user.email} exists already`);
    throw error;
  }
  return id;
}

export async function updateUser(
  db: Knex,
  id: string,
  change: { email?: string; name?: string; authMethod?: AuthMethod; isSuperAdmin?: boolean },
): Promise<void> {
  try {
    await db('users')
      .where({ id })
      .update({
        ...(change.email === undefined ? {} : { email: change.email }),
        ...(change.name === undefined ? {} : { name: change.name }),
        ...(change.authMethod === undefined ? {} : { auth_method: change.authMethod }),
        ...(change.isSuperAdmin === undefined
          ? {}
          : { is_super_admin: change.isSuperAdmin, super_admin_by: null }),
        updated_at: db.fn.now(),
      });
  } catch (error) {
    if (brokeUnique(error, 'users_email_unique'))
      throw conflict(`An account with the address ${change.email} exists already`);
    throw error;
  }
}

/** Sets a password that the user chose. */
export async function setOwnPassword(
  db: Knex,
  userId: string,
  { passwordHash, at }: { passwordHash: string; at: Date },
): Promise<void> {
  await db('users').where({ id: userId }).update({
    password_hash: passwordHash,
    password_changed_at: at,
    must_change_password: false,
    password_expires_at: null,
    updated_at: db.fn.now(),
  });
}

/** Sets a password that the user has to change before anything else. */
export async function setTemporaryPassword(
  db: Knex,
  userId: string,
  { passwordHash, expiresAt }: { passwordHash: string; expiresAt: Date },
): Promise<void> {
  await db('users').where({ id: userId }).update({
    password_hash: passwordHash,
    must_change_password: true,
    password_expires_at: expiresAt,
    updated_at: db.fn.now(),
  });
}

/** Stores the same password with the current hash parameters. */
export async function replaceHash(db: Knex, userId: string, passwordHash: string): Promise<void> {
  await db('users').where({ id: userId }).update({ password_hash: passwordHash });
}

/** An account that is locked already keeps its `lockedBy`. */
export async function setLocked(db: Knex, userId: string, by: LockedBy, at: Date): Promise<void> {
  await db('users')
    .where({ id: userId, locked_at: null })
    .update({ locked_at: at, locked_by: by, updated_at: db.fn.now() });
}

export async function setUnlocked(db: Knex, userId: string): Promise<void> {
  await db('users')
    .where({ id: userId })
    .update({ locked_at: null, locked_by: null, updated_at: db.fn.now() });
}

/**
 * Counts the super admins who could sign in at `now` (milliseconds), by a valid password or by a link to a configured provider.
 * Call it under `lockUsers`.
 */
export async function countSuperAdmins(db: Knex, now: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `SELECT count(*) FROM users u WHERE u.is_super_admin AND u.locked_at IS NULL AND (
       (${PASSWORD_ALLOWED} AND (u.password_expires_at IS NULL OR u.password_expires_at > ?))
       OR EXISTS (SELECT 1 FROM user_identities i JOIN oidc_settings o ON o.issuer = i.issuer WHERE i.user_id = u.id))`,
    [new Date(now)],
  );
  return Number(rows[0].count);
}

/** Counts the super admins who could sign in without any provider. */
export async function countSuperAdminsWithPassword(db: Knex, now: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `SELECT count(*) FROM users u WHERE u.is_super_admin AND u.locked_at IS NULL AND ${PASSWORD_ALLOWED}
       AND (u.password_expires_at IS NULL OR u.password_expires_at > ?)`,
    [new Date(now)],
  );
  return Number(rows[0].count);
}

export async function isPasswordAllowed(db: Knex, userId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { allowed: boolean }[] }>(
    `SELECT ${PASSWORD_ALLOWED} AS allowed FROM users u WHERE u.id = ?`,
    [userId],
  );
  return rows[0]?.allowed ?? false;
}

export async function listBreakGlass(db: Knex): Promise<{ id: string; name: string; email: string }[]> {
  return db('users').where({ is_break_glass: true }).orderBy('email').select('id', 'name', 'email');
}

export async function replaceBreakGlass(tx: Knex, userIds: readonly string[]): Promise<void> {
  await tx.raw(
    `UPDATE users SET is_break_glass = (id = ANY(?::text[])), updated_at = now()
     WHERE is_break_glass <> (id = ANY(?::text[]))`,
    [[...userIds], [...userIds]],
  );
}

export async function deleteUser(db: Knex, id: string): Promise<void> {
  await db('users').where({ id }).delete();
}

export async function recordSignIn(db: Knex, id: string, at: Date): Promise<void> {
  await db('users').where({ id }).update({ last_sign_in_at: at });
}
