/** Settings of the whole installation: one JSON value a key, in the table `settings`. */
import type { Knex } from 'knex';

export async function readSetting<T>(db: Knex, key: string): Promise<T | null> {
  const row: { value: T } | undefined = await db('settings').where({ key }).first('value');
  return row ? row.value : null;
}

export async function writeSetting(db: Knex, key: string, value: unknown): Promise<void> {
  await db('settings')
    .insert({ key, value: JSON.stringify(value), updated_at: db.fn.now() })
    .onConflict('key')
    .merge();
}

/** Writes `value` only where the key is not set yet; answers what is set now. */
export async function claimSetting<T>(db: Knex, key: string, value: T): Promise<T> {
  await db('settings')
    .insert({ key, value: JSON.stringify(value) })
    .onConflict('key')
    .ignore();
  return (await readSetting<T>(db, key)) ?? value;
}

/** Until the transaction ends nobody else changes this setting. Null where it is not set. */
export async function lockSetting<T>(tx: Knex, key: string): Promise<T | null> {
  const row: { value: T } | undefined = await tx('settings').where({ key }).forUpdate().first('value');
  return row ? row.value : null;
}

export async function deleteSetting(tx: Knex, key: string): Promise<void> {
  await tx('settings').where({ key }).delete();
}
