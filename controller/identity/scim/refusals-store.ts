/** The requests that were refused last, for the administrator who sets a provider up. */
import type { Knex } from 'knex';
import type { ScimRefusal } from '../../../schemas/api/settings.ts';

/** What is kept; each refusal takes the place of the oldest. */
export const REFUSALS_KEPT = 100;

export async function addRefusal(db: Knex, refusal: ScimRefusal): Promise<void> {
  await db.raw(
    `WITH added AS (
       INSERT INTO scim_refusals (created_at, method, path, status, scim_type, detail)
       VALUES (?, ?, ?, ?, ?, ?) RETURNING id)
     DELETE FROM scim_refusals WHERE id <= (SELECT id FROM added) - ?`,
    [
      refusal.at,
      refusal.method,
      refusal.path,
      refusal.status,
      refusal.scimType,
      refusal.detail,
      REFUSALS_KEPT,
    ] as Knex.RawBinding[],
  );
}

/** The newest first. */
export async function listRefusals(db: Knex): Promise<ScimRefusal[]> {
  return db('scim_refusals').orderBy('id', 'desc').limit(REFUSALS_KEPT).select({
    at: 'created_at',
    method: 'method',
    path: 'path',
    status: 'status',
    scimType: 'scim_type',
    detail: 'detail',
  });
}
