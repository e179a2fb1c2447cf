import type { Knex } from 'knex';

/**
 * Deletes enrollment tokens that were revoked or expired before `before`: whoever uses one then is told that it is not known
 * instead of that it was revoked. At most `limit`; answers how many.
 */
export async function deleteOldEnrollmentTokens(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM enrollment_tokens WHERE id IN (
       SELECT id FROM enrollment_tokens WHERE least(revoked_at, expires_at) < :before ORDER BY id LIMIT :limit)`,
    { before, limit },
  );
  return rowCount;
}
