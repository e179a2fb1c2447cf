/** The secret backend columns of an environment, and the fetch state of its secrets. */
import type { Knex } from 'knex';
import type { SecretBackend as BackendKind } from '../../../schemas/api/secrets/secret-backends.ts';
import type { BackendState } from './backend-state.ts';

interface Row extends BackendState {
  teamId: string;
}

const COLUMNS = { kind: 'secret_backend', sealed: 'sealed_secret_backend_config', teamId: 'team_id' };

export async function readBackend(db: Knex, environmentId: string): Promise<Row | null> {
  return (await db('environments').where({ id: environmentId }).first<Row | undefined>(COLUMNS)) ?? null;
}

/** Locks the row until the transaction ends, so that nobody else changes the backend. */
export async function lockBackend(tx: Knex, environmentId: string): Promise<Row | null> {
  const row = await tx('environments')
    .where({ id: environmentId })
    .forNoKeyUpdate()
    .first<Row | undefined>(COLUMNS);
  return row ?? null;
}

export async function writeBackend(
  tx: Knex,
  environmentId: string,
  backend: { kind: BackendKind; sealed: string | null },
): Promise<void> {
  await tx('environments').where({ id: environmentId }).update({
    secret_backend: backend.kind,
    sealed_secret_backend_config: backend.sealed,
    updated_at: tx.fn.now(),
  });
}

/** The environments whose secrets are in an external store. */
export async function listExternalEnvironments(db: Knex): Promise<string[]> {
  return db('environments').whereNot({ secret_backend: 'BUILTIN' }).orderBy('id').pluck('id');
}

export interface FetchState {
  /** The oldest last fetch among the secrets. */
  fetchedAt: Date | null;
  failing: number;
  error: string | null;
}

export async function readFetchState(db: Knex, environmentId: string): Promise<FetchState> {
  const { rows } = await db.raw<{ rows: FetchState[] }>(
    `SELECT min(fetched_at) AS "fetchedAt", count(fetch_error)::integer AS failing, min(fetch_error) AS error
     FROM secrets WHERE environment_id = ?`,
    [environmentId],
  );
  return rows[0] ?? { fetchedAt: null, failing: 0, error: null };
}

/** The values that were fetched last stay. */
export async function clearFetchState(tx: Knex, environmentId: string): Promise<void> {
  await tx('secrets')
    .where({ environment_id: environmentId })
    .update({ fetched_at: null, fetch_error: null });
}
