import type { Knex } from 'knex';
import { tokenExpiry } from './personal-tokens-store.ts';

/** Deletes at most `limit` personal tokens that expired before `before`. Returns how many. */
export async function deleteExpiredTokens(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM personal_tokens WHERE id IN (
       SELECT id FROM personal_tokens t WHERE ${tokenExpiry('t')} < :before ORDER BY id LIMIT :limit)`,
    { before, limit },
  );
  return rowCount;
}
