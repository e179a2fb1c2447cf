/** Users, their sessions and their personal tokens. */
import type { Knex } from 'knex';
import type { Role } from '../../schemas/api/common.ts';
import { newId } from '../platform/ids.ts';

export interface User {
  id: string;
  email: string;
  name: string;
  authMethod: 'PASSWORD' | 'OIDC';
  passwordHash: string | null;
  isSuperAdmin: boolean;
  totpEnabled: boolean;
  lockedAt: Date | null;
  failedSignIns: number;
  throttledUntil: Date | null;
}

interface UserRow {
  id: string;
  email: string;
  name: string;
  auth_method: 'PASSWORD' | 'OIDC';
  password_hash: string | null;
  is_super_admin: boolean;
  totp_enabled: boolean;
  locked_at: Date | null;
  failed_sign_ins: number;
  throttled_until: Date | null;
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    authMethod: row.auth_method,
    passwordHash: row.password_hash,
    isSuperAdmin: row.is_super_admin,
    totpEnabled: row.totp_enabled,
    lockedAt: row.locked_at,
    failedSignIns: row.failed_sign_ins,
    throttledUntil: row.throttled_until,
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

/** Until the transaction ends nobody else makes a user: two first starts must not make two administrators. */
export async function lockUsers(tx: Knex): Promise<void> {
  await tx.raw('LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
}

export async function countUsers(db: Knex): Promise<number> {
  const row = await db('users').count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

export async function insertUser(
  db: Knex,
  user: { email: string; name: string; passwordHash: string; isSuperAdmin: boolean },
): Promise<string> {
  const id = newId();
  await db('users').insert({
    id,
    email: user.email,
    name: user.name,
    password_hash: user.passwordHash,
    is_super_admin: user.isSuperAdmin,
  });
  return id;
}

export async function setPasswordHash(db: Knex, userId: string, passwordHash: string): Promise<void> {
  await db('users').where({ id: userId }).update({ password_hash: passwordHash, updated_at: db.fn.now() });
}

/**
 * Counts an attempt; with the `limit`-th the account is throttled until `until`. False where it is throttled already. One
 * atomic update, before the password is looked at, so that guesses sent at once are counted one by one.
 */
export async function takeAttempt(
  db: Knex,
  userId: string,
  throttle: { limit: number; now: Date; until: Date },
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `UPDATE users SET failed_sign_ins = CASE WHEN failed_sign_ins + 1 >= :limit THEN 0 ELSE failed_sign_ins + 1 END,
       throttled_until = CASE WHEN failed_sign_ins + 1 >= :limit THEN :until::timestamptz END
     WHERE id = :userId AND (throttled_until IS NULL OR throttled_until <= :now) RETURNING 1`,
    { ...throttle, userId },
  );
  return rows.length > 0;
}

export async function clearAttempts(db: Knex, userId: string): Promise<void> {
  await db('users').where({ id: userId }).update({ failed_sign_ins: 0, throttled_until: null });
}

export interface SessionOwner {
  user: User;
  roles: Map<string, Role>;
}

export async function insertSession(
  db: Knex,
  session: {
    id: string;
    userId: string;
    tokenHash: Buffer;
    ipAddress: string | null;
    userAgent: string | null;
    expiresAt: Date;
  },
): Promise<void> {
  await db('sessions').insert({
    id: session.id,
    user_id: session.userId,
    token_hash: session.tokenHash,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    expires_at: session.expiresAt,
  });
}

export async function deleteSession(db: Knex, id: string): Promise<void> {
  await db('sessions').where({ id }).delete();
}

export async function deleteExpiredSessions(db: Knex): Promise<void> {
  await db('sessions').where('expires_at', '<', db.fn.now()).delete();
}

type OwnerRow = UserRow & { token_hash: Buffer; roles: Record<string, Role> | null };

const ROLES = `(SELECT jsonb_object_agg(m.team_id, m.role) FROM team_members m WHERE m.user_id = u.id) AS roles`;

function owner(row: OwnerRow | undefined): (SessionOwner & { tokenHash: Buffer }) | null {
  if (!row) return null;
  return { user: toUser(row), roles: new Map(Object.entries(row.roles ?? {})), tokenHash: row.token_hash };
}

/** The user behind a live session, with the roles of this moment: a lost role is lost at once. */
export async function findSessionOwner(db: Knex, sessionId: string) {
  const { rows } = await db.raw<{ rows: OwnerRow[] }>(
    `SELECT u.*, s.token_hash, ${ROLES} FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.id = ? AND s.expires_at > now() AND u.locked_at IS NULL`,
    [sessionId],
  );
  return owner(rows[0]);
}

/** The user behind a live personal token. */
export async function findTokenOwner(db: Knex, tokenId: string) {
  const { rows } = await db.raw<{ rows: OwnerRow[] }>(
    `SELECT u.*, t.token_hash, ${ROLES} FROM personal_tokens t JOIN users u ON u.id = t.user_id
     WHERE t.id = ? AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.locked_at IS NULL`,
    [tokenId],
  );
  return owner(rows[0]);
}

export interface PersonalToken {
  id: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
}

export async function insertPersonalToken(
  db: Knex,
  token: { id: string; userId: string; name: string; tokenHash: Buffer; expiresAt: Date | null },
): Promise<void> {
  await db('personal_tokens').insert({
    id: token.id,
    user_id: token.userId,
    name: token.name,
    token_hash: token.tokenHash,
    expires_at: token.expiresAt,
  });
}

export async function listPersonalTokens(db: Knex, userId: string): Promise<PersonalToken[]> {
  return db('personal_tokens')
    .where({ user_id: userId })
    .orderBy('created_at')
    .select('id', 'name', { createdAt: 'created_at', lastUsedAt: 'last_used_at', expiresAt: 'expires_at' });
}

export async function deletePersonalToken(db: Knex, userId: string, id: string): Promise<boolean> {
  return (await db('personal_tokens').where({ id, user_id: userId }).delete()) > 0;
}

/** At most one write an hour a token: git asks twice for every fetch. */
export async function touchPersonalToken(db: Knex, id: string): Promise<void> {
  await db('personal_tokens')
    .where({ id })
    .where((q) => q.whereNull('last_used_at').orWhereRaw("last_used_at < now() - interval '1 hour'"))
    .update({ last_used_at: db.fn.now() });
}
