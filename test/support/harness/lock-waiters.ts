import type { Knex } from 'knex';
import type { TestDb } from './test-db.ts';
import { until } from './until.ts';

/** Until so many connections to this database wait for a lock. */
export const untilWaiting = (db: TestDb, count = 1): Promise<void> =>
  until(async () => (await countWaiting(db)) >= count, { what: `${count} to wait for a lock` });

/** How many connections to this database wait for a lock. */
export async function countWaiting(db: TestDb): Promise<number> {
  const { rows } = await db.raw(
    `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  );
  return rows.length;
}

/** Starts the call while a transaction holds `lock`, and commits `change` once the call waits for it. Returns its answer. */
export async function whileWaiting<T>(
  db: TestDb,
  { lock, change }: Record<'lock' | 'change', (tx: Knex) => Promise<unknown>>,
  call: () => Promise<T>,
): Promise<T> {
  const tx = await db.transaction();
  let answer: Promise<T>;
  try {
    await lock(tx);
    answer = call();
    await untilWaiting(db);
    await change(tx);
    await tx.commit();
  } catch (error) {
    await tx.rollback();
    throw error;
  }
  return answer;
}
