/** Sweeps up after jobs that did not run: old tombstones, and old notes for the git reconciler. */
import type { Knex } from 'knex';
import { OWNED_TABLES } from './store.ts';

/**
 * Deletes at most `limit` tombstones of each kind that were made before `before`, whatever happened to their purge job;
 * returns how many. A row that is restored meanwhile stays: after a wait for a lock Postgres checks the outer condition again.
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
 * Deletes at most `limit` notes for the git reconciler that are older than `before`; returns how many. No pass takes the notes
 * of a binding that is off or suspended. The newest note of an environment stays, and has the effect of all of them.
 */
export async function thinObjectChanges(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM object_changes WHERE ctid = ANY (ARRAY(
       SELECT c.ctid FROM object_changes c
         JOIN (SELECT environment_id, max(ctid) AS newest FROM object_changes GROUP BY 1) n USING (environment_id)
       WHERE c.at < :before AND c.ctid <> n.newest
       LIMIT :limit FOR UPDATE OF c SKIP LOCKED))`,
    { before, limit },
  );
  return rowCount;
}
