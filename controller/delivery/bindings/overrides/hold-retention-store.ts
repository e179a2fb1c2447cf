import type { Knex } from 'knex';
import { writeAsReconciler } from '../../ownership/index.ts';

/** Deletes holds that were released before `before`. At most `limit`; answers how many. */
export async function deleteReleasedHolds(tx: Knex, before: Date, limit: number): Promise<number> {
  // They say nothing to a pass.
  await writeAsReconciler(tx);
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM git_holds WHERE id IN (
       SELECT id FROM git_holds WHERE released_at < :before ORDER BY id LIMIT :limit)`,
    { before, limit },
  );
  return rowCount;
}
