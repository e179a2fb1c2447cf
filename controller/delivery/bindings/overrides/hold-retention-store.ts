import type { Knex } from 'knex';
import { writeAsReconciler } from '../../ownership/index.ts';

/** Deletes at most `limit` holds that were released before `before`; returns how many. */
export async function deleteReleasedHolds(tx: Knex, before: Date, limit: number): Promise<number> {
  // Released holds do not affect a pass, so it need not read again.
  await writeAsReconciler(tx);
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM git_holds WHERE id IN (
       SELECT id FROM git_holds WHERE released_at < :before ORDER BY id LIMIT :limit)`,
    { before, limit },
  );
  return rowCount;
}
