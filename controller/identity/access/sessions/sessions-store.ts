/** Sessions, and the owners of sessions and personal tokens. */
import type { Knex } from 'knex';
import type { Role } from '../../../../schemas/api/common.ts';
import type { TokenScope } from '../../../../schemas/api/identity/people.ts';
import {
  ACCESS_SETTING,
  type AccessPolicy,
  accessPolicyOf,
  DEFAULT_ACCESS_POLICY,
} from '../access-policy.ts';
import { tokenExpiry } from '../tokens/personal-tokens-store.ts';
import {
  CONFIRMATION,
  confirmationOf,
  PASSWORD_ALLOWED,
  STORED_POLICY,
  type StoredConfirmation,
} from '../users/account-rest-store.ts';
import { restOf } from '../users/resting-account.ts';
import { toUser, type User, type UserRow } from '../users/users-store.ts';
import { IDLE_HOURS } from './session-limits.ts';

export type SignInMethod = 'password' | 'oidc';
/** Where the second factor of a session was proved: at the identity provider, or here. */
export type SecondFactor = 'provider' | 'totp';

export interface SessionOwner {
  user: User;
  roles: Map<string, Role>;
  /** One of the user's teams requires a second factor. */
  twoFactorRequired: boolean;
  tokenHash: Buffer;
}

/** The session at the identity provider: who signed in there, and its session id. */
export interface ProviderSession {
  issuer: string;
  subject: string;
  sid: string | null;
}

export async function insertSession(
  db: Knex,
  session: {
    id: string;
    userId: string;
    tokenHash: Buffer;
    method: SignInMethod;
    sealedIdToken: string | null;
    provider: ProviderSession | null;
    secondFactor: SecondFactor | null;
    ipAddress: string | null;
    userAgent: string | null;
    /** When the user last authenticated. */
    confirmedAt: Date;
    expiresAt: Date;
  },
): Promise<void> {
  await db('sessions').insert({
    id: session.id,
    user_id: session.userId,
    token_hash: session.tokenHash,
    method: session.method,
    sealed_id_token: session.sealedIdToken,
    provider_issuer: session.provider?.issuer ?? null,
    provider_subject: session.provider?.subject ?? null,
    provider_sid: session.provider?.sid ?? null,
    second_factor: session.secondFactor,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    confirmed_at: session.confirmedAt,
    expires_at: session.expiresAt,
  });
}

/** Null for an ended session, and for one that is older than this column. */
export async function readConfirmedAt(db: Knex, id: string): Promise<Date | null> {
  const row: { confirmed_at: Date | null } | undefined = await db('sessions')
    .where({ id })
    .first('confirmed_at');
  return row?.confirmed_at ?? null;
}

export async function recordSecondFactor(db: Knex, id: string, secondFactor: SecondFactor): Promise<void> {
  await db('sessions').where({ id }).update({ second_factor: secondFactor });
}

export async function confirmSession(db: Knex, id: string, at: Date): Promise<void> {
  await db('sessions').where({ id }).update({ confirmed_at: at });
}

export async function deleteSession(db: Knex, id: string): Promise<void> {
  await db('sessions').where({ id }).delete();
}

/** Deletes all sessions of these users, except one. Returns how many ended. */
export async function deleteSessionsOf(
  db: Knex,
  userIds: readonly string[],
  except: string | null = null,
): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    'DELETE FROM sessions WHERE user_id = ANY(?::text[]) AND id IS DISTINCT FROM ?',
    [[...userIds], except],
  );
  return rowCount;
}

/**
 * Deletes sessions that began at a provider, by the subject or by the provider's session id. A session without that id matches
 * by its subject alone. Returns the ids of the users.
 */
export async function deleteSessionsByIdentity(
  tx: Knex,
  { issuer, subject, sid }: { issuer: string; subject: string | null; sid: string | null },
): Promise<string[]> {
  const { rows } = await tx.raw<{ rows: { user_id: string }[] }>(
    `DELETE FROM sessions WHERE method = 'oidc' AND provider_issuer = :issuer
       AND (:subject::text IS NULL OR provider_subject = :subject)
       AND (:sid::text IS NULL OR provider_sid = :sid OR (provider_sid IS NULL AND :subject::text IS NOT NULL))
     RETURNING user_id`,
    { issuer, subject, sid },
  );
  return rows.map(({ user_id }) => user_id);
}

/** Deletes password sessions of users who may no longer sign in by password. Returns the ids of the users. */
export async function deletePasswordSessions(tx: Knex): Promise<string[]> {
  const { rows } = await tx.raw<{ rows: { user_id: string }[] }>(
    `DELETE FROM sessions s USING users u WHERE u.id = s.user_id AND s.method = 'password' AND NOT ${PASSWORD_ALLOWED}
     RETURNING s.user_id`,
  );
  return [...new Set(rows.map(({ user_id }) => user_id))];
}

/** Deletes a session of this user; null where it does not exist. */
export async function deleteSessionOf(
  db: Knex,
  { userId, id }: { userId: string; id: string },
): Promise<{ method: SignInMethod; ipAddress: string | null } | null> {
  const [ended]: { method: SignInMethod; ip_address: string | null }[] = await db('sessions')
    .where({ id, user_id: userId })
    .delete(['method', 'ip_address']);
  return ended ? { method: ended.method, ipAddress: ended.ip_address } : null;
}

const isLive = (s: string) =>
  `${s}.expires_at > now() AND COALESCE(${s}.last_seen_at, ${s}.created_at) > now() - interval '${IDLE_HOURS} hours'`;

export async function deleteExpiredSessions(db: Knex): Promise<void> {
  await db.raw(`DELETE FROM sessions s WHERE NOT (${isLive('s')})`);
}

export interface StoredSession {
  id: string;
  method: SignInMethod;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date | null;
  expiresAt: Date;
}

/** A longer list is of no use; all sessions can be ended at once. */
const MAX_LISTED = 200;

/** Live sessions, newest first. */
export async function listSessions(db: Knex, userId: string): Promise<StoredSession[]> {
  const { rows } = await db.raw<{ rows: StoredSession[] }>(
    `SELECT s.id, s.method, s.ip_address AS "ipAddress", s.user_agent AS "userAgent", s.created_at AS "createdAt",
       s.last_seen_at AS "lastSeenAt", s.expires_at AS "expiresAt"
     FROM sessions s WHERE s.user_id = ? AND ${isLive('s')} ORDER BY s.created_at DESC, s.id DESC LIMIT ${MAX_LISTED}`,
    [userId],
  );
  return rows;
}

const USE_INTERVAL = `interval '5 minutes'`;

/** Writes at most once per five minutes and session. */
export async function recordSessionUse(db: Knex, id: string): Promise<void> {
  await db.raw(
    `UPDATE sessions SET last_seen_at = now()
     WHERE id = ? AND (last_seen_at IS NULL OR last_seen_at < now() - ${USE_INTERVAL})`,
    [id],
  );
}

type OwnerRow = UserRow & {
  token_hash: Buffer;
  roles: Record<string, Role> | null;
  roles_by_hand: Record<string, Role> | null;
  two_factor_required: boolean;
  confirmation: StoredConfirmation;
  policy: Partial<AccessPolicy> | null;
  at: Date;
};

const MEMBERSHIPS = `(SELECT jsonb_object_agg(m.team_id, m.role) FROM team_members m WHERE m.user_id = u.id) AS roles,
  (SELECT jsonb_object_agg(m.team_id, m.role) FROM team_members m
    WHERE m.user_id = u.id AND m.source = 'manual') AS roles_by_hand,
  ${CONFIRMATION} AS confirmation, ${STORED_POLICY} AS policy, now() AS at,
  EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = u.id AND t.require_two_factor) AS two_factor_required`;

/** Null where the account rests. */
function toOwner(row: OwnerRow): SessionOwner | null {
  const policy = accessPolicyOf(row.policy);
  const rest = restOf(confirmationOf(row.confirmation, policy), policy, row.at);
  if (rest === 'account') return null;
  const user = toUser(row);
  return {
    // Rights that groups have given rest together with the group roles.
    user: rest === 'roles' && row.super_admin_by !== null ? { ...user, isSuperAdmin: false } : user,
    roles: new Map(Object.entries((rest === 'roles' ? row.roles_by_hand : row.roles) ?? {})),
    twoFactorRequired: row.two_factor_required,
    tokenHash: row.token_hash,
  };
}

export interface LiveSession extends SessionOwner {
  method: SignInMethod;
  secondFactor: SecondFactor | null;
  /** The next use has to be recorded. */
  isUseDue: boolean;
}

interface SessionColumns {
  method: SignInMethod;
  second_factor: SecondFactor | null;
  is_use_due: boolean;
}

/** The user behind a live session. */
export async function findSessionOwner(db: Knex, sessionId: string): Promise<LiveSession | null> {
  const { rows } = await db.raw<{ rows: (OwnerRow & SessionColumns)[] }>(
    `SELECT u.*, s.token_hash, s.method, s.second_factor, ${MEMBERSHIPS},
       (s.last_seen_at IS NULL OR s.last_seen_at < now() - ${USE_INTERVAL}) AS is_use_due
     FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.id = ? AND ${isLive('s')} AND u.locked_at IS NULL`,
    [sessionId],
  );
  const row = rows[0];
  const found = row && toOwner(row);
  return found
    ? { ...found, method: row.method, secondFactor: row.second_factor, isUseDue: row.is_use_due }
    : null;
}

/** The owner of a live personal token; `owner` is null where the account rests. */
export interface TokenOwner {
  tokenHash: Buffer;
  name: string;
  scopes: TokenScope[];
  owner: SessionOwner | null;
}

export async function findTokenOwner(db: Knex, tokenId: string): Promise<TokenOwner | null> {
  const { rows } = await db.raw<{ rows: (OwnerRow & { token_name: string; scopes: TokenScope[] })[] }>(
    `SELECT u.*, t.token_hash, t.name AS token_name, t.scopes, ${MEMBERSHIPS} FROM personal_tokens t JOIN users u ON u.id = t.user_id
     WHERE t.id = ? AND ${tokenExpiry('t')} > now() AND u.locked_at IS NULL`,
    [tokenId],
  );
  const row = rows[0];
  return row
    ? { tokenHash: row.token_hash, name: row.token_name, scopes: row.scopes, owner: toOwner(row) }
    : null;
}

export interface AccountSummary {
  linkedToProvider: boolean;
  signedInBy: SignInMethod;
  /** Names of teams. */
  twoFactorRequiredBy: string[];
  backupCodesLeft: number;
  tokenMaxDays: number;
}

/** Further facts of the caller's account for `user.me`. */
export async function readAccountSummary(
  db: Knex,
  caller: { userId: string; sessionId: string },
): Promise<AccountSummary> {
  const { rows } = await db.raw<{ rows: AccountSummary[] }>(
    `SELECT EXISTS (SELECT 1 FROM user_identities WHERE user_id = :userId) AS "linkedToProvider",
       COALESCE((SELECT method FROM sessions WHERE id = :sessionId), 'password') AS "signedInBy",
       COALESCE((SELECT jsonb_agg(t.name ORDER BY lower(t.name)) FROM team_members m JOIN teams t ON t.id = m.team_id
         WHERE m.user_id = :userId AND t.require_two_factor), '[]') AS "twoFactorRequiredBy",
       (SELECT count(*) FROM totp_backup_codes c JOIN users u ON u.id = c.user_id
         WHERE c.user_id = :userId AND c.used_at IS NULL AND u.totp_enabled) AS "backupCodesLeft",
       COALESCE((SELECT (value->>'tokenMaxDays')::integer FROM settings WHERE key = :setting), :tokenMaxDays) AS "tokenMaxDays"`,
    { ...caller, setting: ACCESS_SETTING, tokenMaxDays: DEFAULT_ACCESS_POLICY.tokenMaxDays },
  );
  return rows[0] as AccountSummary;
}
