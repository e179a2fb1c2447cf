/** Preferences of users, one row per key. */
import type { Knex } from 'knex';
import type { UserPreferences } from '../../../schemas/api/insight/preferences.ts';
import { unauthorized } from '../../platform/operation/errors.ts';

export async function readPreferences(db: Knex, userId: string): Promise<UserPreferences> {
  const rows: { key: string; value: string }[] = await db('user_preferences')
    .where({ user_id: userId })
    .orderBy('key')
    .select('key', 'value');
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

/** Counts the user's other keys and locks the user until the transaction ends, so that the limit holds. */
export async function countOtherPreferences(tx: Knex, userId: string, key: string): Promise<number> {
  const user = await tx('users').where({ id: userId }).forNoKeyUpdate().first('id');
  if (!user) throw unauthorized();
  const row = await tx('user_preferences')
    .where({ user_id: userId })
    .whereNot({ key })
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export async function writePreference(tx: Knex, userId: string, key: string, value: string): Promise<void> {
  await tx('user_preferences')
    .insert({ user_id: userId, key, value, updated_at: tx.fn.now() })
    .onConflict(['user_id', 'key'])
    .merge();
}

export async function deletePreference(tx: Knex, userId: string, key: string): Promise<void> {
  await tx('user_preferences').where({ user_id: userId, key }).delete();
}
