/** Days of log lines: made ahead, and dropped whole once all their lines are older than the retention. */
import type { Knex } from 'knex';
import type { Clock } from '../../reconcilers/engine/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { readFleetSettings } from '../settings/index.ts';
import { dayAfter, dayOf, dropDaysBefore, ensureDays } from './store.ts';

/** Days that are there before they begin, so that no insert has to wait for one. */
const DAYS_AHEAD = 2;

/** May run as often as wanted, and in several replicas at once. */
export async function keepLogDays(options: { db: Knex; clock: Clock; log: Logger }): Promise<void> {
  const { db, clock, log } = options;
  const today = dayOf(clock.now());
  await ensureDays(
    db,
    Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => dayAfter(today, days)),
  );
  const { logsRetentionDays } = await readFleetSettings(db);
  // The youngest line of a day is one day younger than its start.
  const dropped = await dropDaysBefore(db, dayAfter(today, -logsRetentionDays));
  if (dropped > 0) log.info({ days: dropped, logsRetentionDays }, 'old log lines dropped');
}
