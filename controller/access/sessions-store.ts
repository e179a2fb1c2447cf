/** Sessions of people, and who is behind a session or a personal token. */
import type { Knex } from 'knex';
import type { Role } from '../../schemas/api/common.ts';
import { toUser, type User, type UserRow } from './users-store.ts';

export type SignInMethod = 'password' | 'oidc';

export interface SessionOwner {
  user: User;
  roles: Map<string, Role>;
  /** A team of theirs asks for a second factor. */
  twoFactorRequired: boolean;
  tokenHash: Buffer;
}

export async function insertSession(
  db: Knex,
  session: {
    id: string;
    userId: string;
    tokenHash: Buffer;
    method: SignInMethod;
    sealedIdToken: string | null;
    ipAddress: string | null;
    userAgent: string | null;
    expiresAt: Date;
  },
): Promise<void> {
  await db('sessions').insert({
    id: session.id,
    user_id: session.userId,
    token_hash: session.tokenHash,
    method: session.method,
    sealed_id_token: session.sealedIdToken,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    expires_at: session.expiresAt,
  });
}

export async function deleteSession(db: Knex, id: string): Promise<void> {
  await db('sessions').where({ id }).delete();
}

/** All of these people, but for one session that goes on. Answers how many ended. */
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

export async function deleteExpiredSessions(db: Knex): Promise<void> {
  await db('sessions').where('expires_at', '<', db.fn.now()).delete();
}

type OwnerRow = UserRow & {
  token_hash: Buffer;
  roles: Record<string, Role> | null;
  two_factor_required: boolean;
};

const MEMBERSHIPS = `(SELECT jsonb_object_agg(m.team_id, m.role) FROM team_members m WHERE m.user_id = u.id) AS roles,
  EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = u.id AND t.require_two_factor) AS two_factor_required`;

const owner = (row: OwnerRow): SessionOwner => ({
  user: toUser(row),
  roles: new Map(Object.entries(row.roles ?? {})),
  twoFactorRequired: row.two_factor_required,
  tokenHash: row.token_hash,
});

/** The user behind a live session. */
export async function findSessionOwner(
  db: Knex,
  sessionId: string,
): Promise<(SessionOwner & { method: SignInMethod }) | null> {
  const { rows } = await db.raw<{ rows: (OwnerRow & { method: SignInMethod })[] }>(
    `SELECT u.*, s.token_hash, s.method, ${MEMBERSHIPS} FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.id = ? AND s.expires_at > now() AND u.locked_at IS NULL`,
    [sessionId],
  );
  const row = rows[0];
  return row ? { ...owner(row), method: row.method } : null;
}

/** The user behind a live personal token. */
export async function findTokenOwner(db: Knex, tokenId: string): Promise<SessionOwner | null> {
  const { rows } = await db.raw<{ rows: OwnerRow[] }>(
    `SELECT u.*, t.token_hash, ${MEMBERSHIPS} FROM personal_tokens t JOIN users u ON u.id = t.user_id
     WHERE t.id = ? AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.locked_at IS NULL`,
    [tokenId],
  );
  return rows[0] ? owner(rows[0]) : null;
}

export interface Standing {
  linkedToProvider: boolean;
  signedInBy: SignInMethod;
  /** Names of teams. */
  twoFactorRequiredBy: string[];
  backupCodesLeft: number;
}

/** What else somebody is told of their own account. */
export async function readStanding(db: Knex, who: { userId: string; sessionId: string }): Promise<Standing> {
  const { rows } = await db.raw<{ rows: Standing[] }>(
    `SELECT EXISTS (SELECT 1 FROM user_identities WHERE user_id = :userId) AS "linkedToProvider",
       COALESCE((SELECT method FROM sessions WHERE id = :sessionId), 'password') AS "signedInBy",
       COALESCE((SELECT jsonb_agg(t.name ORDER BY lower(t.name)) FROM team_members m JOIN teams t ON t.id = m.team_id
         WHERE m.user_id = :userId AND t.require_two_factor), '[]') AS "twoFactorRequiredBy",
       (SELECT count(*) FROM totp_backup_codes WHERE user_id = :userId AND used_at IS NULL) AS "backupCodesLeft"`,
    who,
  );
  return rows[0] as Standing;
}
