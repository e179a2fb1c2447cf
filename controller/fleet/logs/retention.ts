/**
 * Manages the day partitions of log lines: creates them ahead of time, and drops whole days when all their lines are too old or
 * all days together are too large.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { dayAfter, dayOf } from '../../database/day-partitions.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { readFleetSettings } from '../settings/index.ts';
import { logDays } from './store.ts';

/** Partitions are created this many days ahead, so that no insert waits for one. */
const DAYS_AHEAD = 2;

const MIB = 1024 * 1024;

/** Idempotent; several replicas may run it at once. */
export async function maintainLogDays(options: { db: Knex; clock: Clock; log: Logger }): Promise<void> {
  const { db, clock, log } = options;
  const today = dayOf(clock.now());
  await logDays.ensure(
    db,
    Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => dayAfter(today, days)),
  );
  const { logsRetentionDays } = await readFleetSettings(db);
  // The youngest line of a day is one day younger than its start.
  const dropped = await logDays.dropBefore(db, dayAfter(today, -logsRetentionDays));
  if (dropped > 0) log.info({ days: dropped, logsRetentionDays }, 'old log lines were dropped');
}

/**
 * Drops the oldest days until the total size is below the setting. If today alone exceeds it, today is dropped too: a full disk
 * would stop everything else. Idempotent; several replicas may run it at once.
 */
export async function limitLogSize(options: { db: Knex; clock: Clock; log: Logger }): Promise<void> {
  const { db, clock, log } = options;
  const today = dayOf(clock.now());
  const { logsMibTotal } = await readFleetSettings(db);
  const sizes = await logDays.sizes(db);
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { day, bytes } of sizes) {
    if (total <= logsMibTotal * MIB || day > today) return;
    await logDays.drop(db, day);
    total -= bytes;
    const mib = Math.round(bytes / MIB);
    log.warn(
      { day: new Date(day).toISOString().slice(0, 10), mib, logsMibTotal },
      'log lines take more space than the setting allows; the oldest day was dropped',
    );
    if (day === today) await logDays.ensure(db, [today]);
  }
}
