import type { Knex } from 'knex';

/** Under it, replicas of one data directory prepare its keys and its repository. */
export const PREPARING = 7_236_003;

/** Does `work` while no other replica does work under the same number. It is held by a transaction that does nothing else. */
export async function withAdvisoryLock<T>(db: Knex, lock: number, work: () => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [lock]);
    return work();
  });
}
