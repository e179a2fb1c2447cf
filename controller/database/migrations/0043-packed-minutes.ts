/**
 * Hours of minutes that are over, packed: one row per series and hour, with an array of 60 values per column, null where the
 * minute has none. Arrays are compressed in place, and the many that hold one value over and over take next to nothing.
 */
import type { Knex } from 'knex';

export const name = '0043-packed-minutes';

const AMOUNTS = ['events_in', 'events_out', 'bytes_in', 'bytes_out', 'errors', 'discarded'];
const MEASURES = ['seconds', 'nodes', ...AMOUNTS, 'exits', 'latency_sum', 'latency_count', 'utilization'];
const HOST = [
  ...[
    'cpu_percent',
    'memory_used_bytes',
    'memory_total_bytes',
    'load_avg1',
    'fs_used_bytes',
    'fs_total_bytes',
  ],
  ...['disk_read_rate', 'disk_written_rate', 'net_rx_rate', 'net_tx_rate'],
];

export async function up(db: Knex): Promise<void> {
  for (const [table, keys, more, values] of [
    ['node_pipeline_minutes', ['node_id', 'pipeline_id'], [], MEASURES],
    ['pipeline_minutes', ['pipeline_id'], [], MEASURES],
    ['component_minutes', ['pipeline_id', 'component_id'], ['kind'], MEASURES],
    ['node_minutes', ['node_id'], [], HOST],
  ] as const)
    await db.raw(`
      CREATE TABLE packed_${table} (
        hour timestamptz NOT NULL,
        ${[...keys, ...more].map((key) => `${key} text NOT NULL`).join(', ')},
        ${values.map((value) => `${value} real[] STORAGE MAIN NOT NULL`).join(', ')},
        CONSTRAINT packed_${table}_pkey PRIMARY KEY (${keys.join(', ')}, hour)
      ) PARTITION BY RANGE (hour)`);
}
