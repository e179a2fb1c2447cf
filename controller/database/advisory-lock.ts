import type { Knex } from 'knex';

/** Does `work` while no other replica does work under the same number. It is held by a transaction that does nothing else. */
export async function withAdvisoryLock<T>(db: Knex, lock: number, work: () => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [lock]);
    return work();
  });
}
