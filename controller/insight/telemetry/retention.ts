/** Creates the day partitions of metrics ahead of time and drops whole days by age. */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { dayAfter, dayOf } from '../../database/day-partitions.ts';
import { readFleetSettings } from '../../fleet/settings/index.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { type MinuteTable, PACKED_TABLES } from './minutes/packing-store.ts';
import { MINUTE_TABLES } from './minutes/postgres-store.ts';

/** Partitions are created this many days ahead, so that no insert waits for one. */
const DAYS_AHEAD = 2;
/** Points of one pipeline on one node, and of its components, are many: they are kept for 48 hours, and up to a day longer. */
export const DETAIL_DAYS = 2;

/** Idempotent; several replicas may run it at once. */
export async function maintainMetricDays(options: { db: Knex; clock: Clock; log: Logger }): Promise<void> {
  const { db, clock, log } = options;
  const today = dayOf(clock.now());
  const ahead = Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => dayAfter(today, days));
  for (const table of [...Object.values(MINUTE_TABLES), ...Object.values(PACKED_TABLES)])
    await table.ensure(db, ahead);
  const { metricsRetentionDays } = await readFleetSettings(db);
  const retained: Record<MinuteTable, number> = {
    node_pipeline_minutes: DETAIL_DAYS,
    component_minutes: DETAIL_DAYS,
    pipeline_minutes: metricsRetentionDays,
    node_minutes: metricsRetentionDays,
  };
  for (const [name, days] of Object.entries(retained) as [MinuteTable, number][]) {
    // The youngest point of a day is one day younger than its start.
    const oldest = dayAfter(today, -days);
    const dropped =
      (await MINUTE_TABLES[name].dropBefore(db, oldest)) + (await PACKED_TABLES[name].dropBefore(db, oldest));
    if (dropped > 0) log.info({ table: name, days: dropped, retained: days }, 'old metrics were dropped');
  }
}
