import type { TestDb } from './test-db.ts';
import { until } from './until.ts';

/** Until so many connections to this database wait for a lock. */
export const untilWaiting = (db: TestDb, count = 1): Promise<void> =>
  until(
    async () => {
      const { rows } = await db.raw(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rows.length >= count;
    },
    { what: `${count} to wait for a lock` },
  );
