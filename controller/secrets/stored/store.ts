import type { Knex } from 'knex';
import type { SecretSummary } from '../../../schemas/api/fleet/environments.ts';
import { brokeUnique } from '../../database/errors.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import { conflict } from '../../platform/operation/errors.ts';

const COLUMNS = [
  'id',
  'name',
  'variable',
  'path',
  'property',
  'version',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'fetched_at as fetchedAt',
  'fetch_error as fetchError',
] as const;

const contextOf = (id: string) => sealingContext('secrets', id);

export type StoredSecret = Omit<SecretSummary, 'usedBy'>;

export async function listSecrets(db: Knex, environmentId: string): Promise<StoredSecret[]> {
  return db('secrets')
    .where({ environment_id: environmentId })
    .orderBy('name')
    .select(...COLUMNS);
}

export async function findSecret(db: Knex, environmentId: string, id: string): Promise<StoredSecret | null> {
  return (
    (await db('secrets')
      .where({ id, environment_id: environmentId })
      .first(...COLUMNS)) ?? null
  );
}

export async function findSecretId(db: Knex, environmentId: string, name: string): Promise<string | null> {
  const row = await db('secrets').where({ name, environment_id: environmentId }).first('id');
  return row?.id ?? null;
}

export async function insertSecret(
  db: Knex,
  keyring: Keyring,
  secret: {
    id: string;
    environmentId: string;
    name: string;
    variable: string;
    /** The entry in an external store. */
    path?: string | undefined;
    property?: string | undefined;
    version?: string | undefined;
    value: string;
    /** The value comes from an external store. */
    fetched?: boolean;
  },
): Promise<StoredSecret> {
  try {
    const [row] = await db('secrets')
      .insert({
        id: secret.id,
        environment_id: secret.environmentId,
        name: secret.name,
        variable: secret.variable,
        path: secret.path ?? null,
        property: secret.property ?? null,
        version: secret.version ?? null,
        sealed_value: keyring.seal(secret.value, contextOf(secret.id)),
        fetched_at: secret.fetched ? db.fn.now() : null,
      })
      .returning([...COLUMNS]);
    return row as StoredSecret;
  } catch (error) {
    if (brokeUnique(error)) throw nameTaken(secret.variable);
    throw error;
  }
}

export const nameTaken = (variable: string) =>
  conflict(
    `A secret that becomes ${variable} exists already; choose a name that differs in letters or digits`,
  );

export async function hasVariable(db: Knex, environmentId: string, variable: string): Promise<boolean> {
  return (await db('secrets').where({ environment_id: environmentId, variable }).first('id')) !== undefined;
}

export async function updateSecretValue(
  db: Knex,
  keyring: Keyring,
  secret: { id: string; value: string; fetched: boolean },
): Promise<void> {
  const { id, value, fetched } = secret;
  await db('secrets')
    .where({ id })
    .update({
      sealed_value: keyring.seal(value, contextOf(id)),
      updated_at: db.fn.now(),
      fetched_at: fetched ? db.fn.now() : null,
      fetch_error: null,
    });
}

export async function updateSecretLocation(
  db: Knex,
  id: string,
  location: { path: string | null; property: string | null; version: string | null },
): Promise<void> {
  await db('secrets').where({ id }).update(location);
}

export async function deleteSecret(db: Knex, id: string): Promise<void> {
  await db('secrets').where({ id }).delete();
}

/** The variable names of an environment, for the check that references of a manifest exist. */
export async function secretVariables(db: Knex, environmentId: string): Promise<Set<string>> {
  const rows: { variable: string }[] = await db('secrets')
    .where({ environment_id: environmentId })
    .select('variable');
  return new Set(rows.map((row) => row.variable));
}

/**
 * Functions that decrypt a value, by variable; they throw where the sealed text is damaged. Use it only for what is sent to
 * a node that needs the value.
 */
export async function readSecrets(
  db: Knex,
  keyring: Keyring,
  environmentId: string,
): Promise<Map<string, () => string>> {
  const rows: { id: string; variable: string; sealed_value: string }[] = await db('secrets')
    .where({ environment_id: environmentId })
    .select('id', 'variable', 'sealed_value');
  return new Map(rows.map((row) => [row.variable, () => keyring.open(row.sealed_value, contextOf(row.id))]));
}
