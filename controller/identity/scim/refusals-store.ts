/** The last rejected requests, for the administrator who configures the provider. */
import type { Knex } from 'knex';
import type { ScimRefusal } from '../../../schemas/api/settings.ts';

/** A new refusal replaces the oldest. */
export const MAX_REFUSALS = 100;

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
      MAX_REFUSALS,
    ] as Knex.RawBinding[],
  );
}

/** Newest first. */
export async function listRefusals(db: Knex): Promise<ScimRefusal[]> {
  return db('scim_refusals').orderBy('id', 'desc').limit(MAX_REFUSALS).select({
    at: 'created_at',
    method: 'method',
    path: 'path',
    status: 'status',
    scimType: 'scim_type',
    detail: 'detail',
  });
}
