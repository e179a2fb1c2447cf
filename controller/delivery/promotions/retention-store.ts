import type { Knex } from 'knex';

/**
 * Deletes at most `limit` promotions that ended before `endedBefore`. These stay: the newest `keep` of each pipeline; the last
 * deployed one of each pipeline and target, since the next promotion takes its merge base and its target from that.
 * @returns how many were deleted
 */
export async function deleteOldPromotions(
  tx: Knex,
  { keep, endedBefore }: { keep: number; endedBefore: Date },
  limit: number,
): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM promotions WHERE id IN (
       SELECT o.id FROM promotions o
       WHERE o.status IN ('DEPLOYED', 'REJECTED', 'CANCELLED') AND o.updated_at < :endedBefore
         AND (o.pipeline_id IS NULL OR (SELECT count(*) FROM (SELECT 1 FROM promotions n
           WHERE n.pipeline_id = o.pipeline_id AND (n.created_at, n.id) > (o.created_at, o.id) LIMIT :keep) newer) >= :keep)
         AND (o.pipeline_id IS NULL OR o.status <> 'DEPLOYED' OR EXISTS (SELECT 1 FROM promotions n
           WHERE n.pipeline_id = o.pipeline_id AND n.target_environment_id = o.target_environment_id
             AND lower(n.target_name) = lower(o.target_name) AND n.status = 'DEPLOYED'
             AND n.target_pipeline_id IS NOT DISTINCT FROM o.target_pipeline_id
             AND n.snapshot->>'form' = o.snapshot->>'form' AND (n.deployed_at, n.id) > (o.deployed_at, o.id)))
       ORDER BY o.id LIMIT :limit)`,
    { keep, endedBefore, limit },
  );
  return rowCount;
}
