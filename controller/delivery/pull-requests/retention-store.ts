/** Old pull requests: what they would have done, and those of which a forge has the record. */
import type { Knex } from 'knex';

/**
 * Takes the plans of pull requests that were closed before `closedBefore` out of their checks; `reason` is shown instead.
 * What they were made of is forgotten, so that one that is reopened gets its plan back. At most `limit`; answers how many.
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
 * Deletes pull requests of forges that were closed before `closedBefore`, with their checks, unless a promotion names them:
 * the forge has them on. Those that are kept here are the only record of their review and stay. One that is reopened
 * meanwhile stays too: after a wait only the outer conditions are asked again. At most `limit`; answers how many.
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
