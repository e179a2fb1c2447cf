/** Writes the results of a fetch from an external store in bulk. */
import type { Knex } from 'knex';
import type { SecretRef } from '../backends/secret-ref.ts';

export interface FetchedRow extends SecretRef {
  id: string;
  sealed: string;
  error: string | null;
}

export async function listFetched(db: Knex, environmentId: string): Promise<FetchedRow[]> {
  return db('secrets')
    .where({ environment_id: environmentId })
    .orderBy('name')
    .select('id', 'name', 'path', 'property', 'version', { sealed: 'sealed_value', error: 'fetch_error' });
}

/** Writes only where nobody has written another value since `row` was read. Returns the ids of the written rows. */
export async function writeFetched(
  tx: Knex,
  changes: readonly { row: FetchedRow; sealed: string }[],
): Promise<string[]> {
  if (changes.length === 0) return [];
  const { rows } = await tx.raw<{ rows: { id: string }[] }>(
    `UPDATE secrets s SET sealed_value = c.sealed, updated_at = now(), fetched_at = now(), fetch_error = NULL
     FROM unnest(?::text[], ?::text[], ?::text[]) AS c (id, before, sealed)
     WHERE s.id = c.id AND s.sealed_value = c.before RETURNING s.id`,
    [
      changes.map(({ row }) => row.id),
      changes.map(({ row }) => row.sealed),
      changes.map(({ sealed }) => sealed),
    ],
  );
  return rows.map(({ id }) => id);
}

export async function markFetched(tx: Knex, rows: readonly FetchedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.raw('UPDATE secrets SET fetched_at = now(), fetch_error = NULL WHERE id = ANY(?::text[])', [
    rows.map(({ id }) => id),
  ]);
}

export async function markFailed(
  tx: Knex,
  failures: readonly { row: FetchedRow; error: string }[],
): Promise<void> {
  if (failures.length === 0) return;
  await tx.raw(
    `UPDATE secrets s SET fetch_error = f.error FROM unnest(?::text[], ?::text[]) AS f (id, error) WHERE s.id = f.id`,
    [failures.map(({ row }) => row.id), failures.map(({ error }) => error)],
  );
}

/** Writes of this transaction do not wake the git reconciler: it does not depend on the values. */
export async function muteGitReconciler(tx: Knex): Promise<void> {
  await tx.raw("SELECT set_config('headgate.reconciler', 'on', true)");
}
