import type { Knex } from 'knex';
import { notFound } from '../../platform/operation/errors.ts';

// A class of advisory locks; the second number is an environment's.
const ORDER = 7_236_010;

/**
 * Until the transaction ends, nobody else changes groups or dependencies of the environment. An advisory lock and not the
 * environment's row: a deploy holds its pipeline when it comes to that row, and what is done here may wait for pipelines.
 */
export async function lockOrder(tx: Knex, environmentId: string): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock(?, hashtext(?))', [ORDER, environmentId]);
  const row = await tx('environments').where({ id: environmentId }).forKeyShare().first('id');
  if (!row) throw notFound('Environment');
}
