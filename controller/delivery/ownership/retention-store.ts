/** What is left over of objects where the job that should have taken it away did not. */
import type { Knex } from 'knex';
import { OWNED_TABLES } from './store.ts';

/**
 * Deletes tombstones that were made before `before`, whatever became of their purge job. One that is brought back meanwhile
 * stays: after a wait only the outer condition is asked again. At most `limit` of each kind; answers how many.
 */
export async function purgeOldTombstones(tx: Knex, before: Date, limit: number): Promise<number> {
  let deleted = 0;
  for (const table of OWNED_TABLES) {
    const { rowCount } = await tx.raw<{ rowCount: number }>(
      `DELETE FROM ?? WHERE tombstoned_at < ?
         AND id IN (SELECT id FROM ?? WHERE tombstoned_at < ? ORDER BY id LIMIT ?)`,
      [table, before, table, before, limit],
    );
    deleted += rowCount;
  }
  return deleted;
}

/**
 * Thins out the notes for the git reconciler that are older than `before`: where a binding is off or suspended, no pass takes
 * them. One note of an environment says as much as thousands. At most `limit`; answers how many.
 */
export async function thinObjectChanges(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM object_changes WHERE ctid = ANY (ARRAY(
       SELECT c.ctid FROM object_changes c
         JOIN (SELECT environment_id, max(ctid) AS kept FROM object_changes GROUP BY 1) n USING (environment_id)
       WHERE c.at < :before AND c.ctid <> n.kept
       LIMIT :limit FOR UPDATE OF c SKIP LOCKED))`,
    { before, limit },
  );
  return rowCount;
}
