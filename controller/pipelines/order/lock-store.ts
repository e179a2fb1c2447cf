import type { Knex } from 'knex';
import { notFound } from '../../platform/operation/errors.ts';

// First key of the advisory lock; the second is a hash of the environment id.
const ORDER = 7_236_010;

/**
 * Serializes changes of groups and dependencies of an environment until the transaction ends. An advisory lock instead of a
 * lock on the environment's row: a deploy locks its pipeline before that row, and callers of this function may wait for
 * pipelines.
 */
export async function lockOrder(tx: Knex, environmentId: string): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock(?, hashtext(?))', [ORDER, environmentId]);
  const row = await tx('environments').where({ id: environmentId }).forKeyShare().first('id');
  if (!row) throw notFound('Environment');
}
