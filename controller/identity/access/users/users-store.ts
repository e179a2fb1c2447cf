/** The accounts of people. */
import type { Knex } from 'knex';
import type { AuthMethod } from '../../../../schemas/api/people.ts';
import { brokeUnique } from '../../../database/errors.ts';
import { conflict } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { PASSWORD_OPENS } from './account-rest-store.ts';

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
  /** Null where nobody has locked it. */
  lockedBy: LockedBy | null;
  mustChangePassword: boolean;
  /** Of a temporary password. */
  passwordExpiresAt: Date | null;
  passwordChangedAt: Date | null;
  lastSignInAt: Date | null;
  /** When a super admin has unlinked it last; null once it was linked again. */
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
 * Until the transaction ends nobody else changes this account. Null where there is none. The table comes before the row, for
 * the change that follows: under `lockUsers` somebody may wait for this row, and would be waited for in turn.
 */
export async function lockUserRow(tx: Knex, id: string): Promise<User | null> {
  await tx.raw('LOCK TABLE users IN ROW EXCLUSIVE MODE');
  const row: UserRow | undefined = await tx('users').where({ id }).forUpdate().first();
  return row ? toUser(row) : null;
}

/** Until the transaction ends nobody else makes or changes a user: for what counts accounts. */
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
  /** Null where nobody signs in by password. */
  passwordHash: string | null;
  isSuperAdmin: boolean;
  authMethod?: AuthMethod;
  /** The password was made by somebody else: it has to be changed before this. */
  passwordExpiresAt?: Date;
}

/** @throws CONFLICT where the address is taken, in whatever case. */
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
      throw conflict(`There is an account with the address ${user.email} already`);
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
      throw conflict(`There is an account with the address ${change.email} already`);
    throw error;
  }
}

/** One that its owner chose. */
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

/** One that somebody else has seen: good for nothing but its own change. */
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

/** The same password, by today's parameters. */
export async function replaceHash(db: Knex, userId: string, passwordHash: string): Promise<void> {
  await db('users').where({ id: userId }).update({ password_hash: passwordHash });
}

/** Whoever locked an account first stays the one who did. */
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
 * Those who could sign in at `now` in milliseconds: by a password, which ends where it is a temporary one, or by what a
 * provider that is set knows them by. Of interest under `lockUsers`.
 */
export async function countSuperAdmins(db: Knex, now: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `SELECT count(*) FROM users u WHERE u.is_super_admin AND u.locked_at IS NULL AND (
       (${PASSWORD_OPENS} AND (u.password_expires_at IS NULL OR u.password_expires_at > ?))
       OR EXISTS (SELECT 1 FROM user_identities i JOIN oidc_settings o ON o.issuer = i.issuer WHERE i.user_id = u.id))`,
    [new Date(now)],
  );
  return Number(rows[0].count);
}

/** Who can sign in without any provider. */
export async function countSuperAdminsWithPassword(db: Knex, now: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `SELECT count(*) FROM users u WHERE u.is_super_admin AND u.locked_at IS NULL AND ${PASSWORD_OPENS}
       AND (u.password_expires_at IS NULL OR u.password_expires_at > ?)`,
    [new Date(now)],
  );
  return Number(rows[0].count);
}

export async function passwordOpens(db: Knex, userId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { opens: boolean }[] }>(
    `SELECT ${PASSWORD_OPENS} AS opens FROM users u WHERE u.id = ?`,
    [userId],
  );
  return rows[0]?.opens ?? false;
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

export async function noteSignIn(db: Knex, id: string, at: Date): Promise<void> {
  await db('users').where({ id }).update({ last_sign_in_at: at });
}
