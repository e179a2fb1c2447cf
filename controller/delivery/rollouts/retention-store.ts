import type { Knex } from 'knex';
import { ACTIVE_ROLLOUT } from './store.ts';

/**
 * Deletes rollouts that ended before `endedBefore`, but for the newest `keep` of each pipeline, which its page shows. At
 * most `limit`; answers how many.
 */
export async function deleteOldRollouts(
  tx: Knex,
  { keep, endedBefore }: { keep: number; endedBefore: Date },
  limit: number,
): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM rollouts WHERE id IN (
       SELECT r.id FROM rollouts r
       WHERE r.ended_at < :endedBefore AND NOT r.${ACTIVE_ROLLOUT}
         AND (SELECT count(*) FROM (SELECT 1 FROM rollouts o WHERE o.pipeline_id = r.pipeline_id
           AND (o.created_at, o.id) > (r.created_at, r.id) LIMIT :keep) newer) >= :keep
       ORDER BY r.id LIMIT :limit)`,
    { keep, endedBefore, limit },
  );
  return rowCount;
}
