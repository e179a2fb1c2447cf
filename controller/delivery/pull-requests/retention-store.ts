/** Deletes old plans of pull requests, and old mirrored pull requests. */
import type { Knex } from 'knex';

/**
 * Removes the plans of at most `limit` pull requests that were closed before `closedBefore`; `reason` is shown instead. Their
 * `inputs` are cleared, so that a reopened one is planned again. Returns how many.
 */
export async function clearOldPlans(
  tx: Knex,
  { closedBefore, reason }: { closedBefore: Date; reason: string },
  limit: number,
): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `UPDATE pull_request_checks c SET plan = NULL, reason = :reason, inputs = ''
     FROM (SELECT o.pull_request_id, o.environment_id FROM pull_request_checks o
         JOIN pull_requests p ON p.id = o.pull_request_id
       WHERE o.plan IS NOT NULL AND p.state <> 'open' AND coalesce(p.closed_at, p.updated_at) < :closedBefore
       ORDER BY o.pull_request_id, o.environment_id LIMIT :limit) old
     WHERE c.pull_request_id = old.pull_request_id AND c.environment_id = old.environment_id`,
    { closedBefore, reason, limit },
  );
  return rowCount;
}

/**
 * Deletes at most `limit` pull requests of forges that were closed before `closedBefore`, with their checks, unless a promotion
 * refers to them: the forge still has them. Those that Headgate keeps itself are the only record of their review, and stay.
 * One that is reopened meanwhile stays too: after a wait for a lock Postgres checks the outer conditions again. Returns how
 * many.
 */
export async function deleteOldMirrored(
  tx: Knex,
  { closedBefore }: { closedBefore: Date },
  limit: number,
): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM pull_requests WHERE state <> 'open' AND coalesce(closed_at, updated_at) < :closedBefore AND id IN (
       SELECT p.id FROM pull_requests p
       WHERE p.forge <> 'headgate' AND p.state <> 'open' AND coalesce(p.closed_at, p.updated_at) < :closedBefore
         AND NOT EXISTS (SELECT 1 FROM promotions o WHERE o.pull_request_id = p.id)
       ORDER BY p.id LIMIT :limit)`,
    { closedBefore, limit },
  );
  return rowCount;
}
