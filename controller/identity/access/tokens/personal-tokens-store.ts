/** Personal tokens; only hashes are stored. */
import type { Knex } from 'knex';
import type { TokenScope } from '../../../../schemas/api/identity/people.ts';

export interface PersonalToken {
  id: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date;
  scopes: TokenScope[];
}

/** Tokens of older versions without an expiry expire too. */
export const tokenExpiry = (t: string) => `COALESCE(${t}.expires_at, ${t}.created_at + interval '90 days')`;

export async function insertPersonalToken(
  db: Knex,
  token: Pick<PersonalToken, 'id' | 'name' | 'expiresAt' | 'scopes'> & { userId: string; tokenHash: Buffer },
): Promise<void> {
  await db('personal_tokens').insert({
    id: token.id,
    user_id: token.userId,
    name: token.name,
    token_hash: token.tokenHash,
    expires_at: token.expiresAt,
    scopes: token.scopes,
  });
}

export async function listPersonalTokens(db: Knex, userId: string): Promise<PersonalToken[]> {
  return db('personal_tokens AS t')
    .where({ user_id: userId })
    .orderBy('created_at')
    .select('id', 'name', 'scopes', { createdAt: 'created_at', lastUsedAt: 'last_used_at' })
    .select(db.raw(`${tokenExpiry('t')} AS "expiresAt"`));
}

export async function deletePersonalToken(db: Knex, userId: string, id: string): Promise<boolean> {
  return (await db('personal_tokens').where({ id, user_id: userId }).delete()) > 0;
}

/** Writes at most once per hour and token: git sends two requests for every fetch. */
export async function recordPersonalTokenUse(db: Knex, id: string): Promise<void> {
  await db('personal_tokens')
    .where({ id })
    .where((q) => q.whereNull('last_used_at').orWhereRaw("last_used_at < now() - interval '1 hour'"))
    .update({ last_used_at: db.fn.now() });
}

/** Deletes all tokens of a user. Returns how many. */
export async function deletePersonalTokensOf(tx: Knex, userId: string): Promise<number> {
  return tx('personal_tokens').where({ user_id: userId }).delete();
}

/** Makes tokens that would last longer end at `latest`. Returns how many. */
export async function shortenPersonalTokens(tx: Knex, latest: Date): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `UPDATE personal_tokens t SET expires_at = :latest WHERE ${tokenExpiry('t')} > :latest`,
    { latest },
  );
  return rowCount;
}
