import type { Knex } from 'knex';

/**
 * Deletes enrollment tokens that were revoked or expired before `before`. An agent that uses one then gets "not known" instead
 * of "revoked". Deletes at most `limit` and returns the number.
 */
export async function deleteOldEnrollmentTokens(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM enrollment_tokens WHERE id IN (
       SELECT id FROM enrollment_tokens WHERE least(revoked_at, expires_at) < :before ORDER BY id LIMIT :limit)`,
    { before, limit },
  );
  return rowCount;
}
