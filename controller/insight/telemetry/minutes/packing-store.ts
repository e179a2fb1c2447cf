/** Packs hours that are over into one row per series, and reads packed and other minutes as one table. */
import type { Knex } from 'knex';
import type { Clock } from '../../../../reconcilers/loops/clock.ts';
import { type DayPartitions, dayOf, dayPartitions } from '../../../database/day-partitions.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import { HOUR_MS } from '../record/growth.ts';
import { AMOUNT_COLUMNS } from '../record/points-store.ts';

export type MinuteTable = 'node_pipeline_minutes' | 'pipeline_minutes' | 'component_minutes' | 'node_minutes';

interface Layout {
  /** Of the primary key, with the minute or hour. */
  keys: readonly string[];
  /** Columns that the key decides. */
  details: readonly string[];
  values: readonly string[];
  /** SQL of whether a packed minute `u` is there, of which these columns are read. */
  isThere: (columns: readonly string[]) => string;
  /** How two values of one minute become one. */
  merge: (value: string) => string;
}

/** Of `node_minutes`. */
const HOST_COLUMNS = [
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

const MEASURES = [
  'seconds',
  'nodes',
  ...AMOUNT_COLUMNS,
  'exits',
  'latency_sum',
  'latency_count',
  'utilization',
];
const ofMeasures = {
  values: MEASURES,
  // Of a minute that is there, all but the utilization are.
  isThere: ([first = '']: readonly string[]) => `u.${first} IS NOT NULL`,
  merge: (value: string) => (value === 'utilization' ? `max(${value})` : `sum(${value})`),
};
const LAYOUTS: Readonly<Record<MinuteTable, Layout>> = {
  node_pipeline_minutes: { ...ofMeasures, keys: ['node_id', 'pipeline_id'], details: [] },
  pipeline_minutes: { ...ofMeasures, keys: ['pipeline_id'], details: [] },
  component_minutes: { ...ofMeasures, keys: ['pipeline_id', 'component_id'], details: ['kind'] },
  node_minutes: {
    ...{ keys: ['node_id'], details: [], values: HOST_COLUMNS, merge: (value: string) => `max(${value})` },
    isThere: (columns) => `num_nonnulls(${columns.map((column) => `u.${column}`).join(', ')}) > 0`,
  },
};

/** Their rows are compressed however short they are. */
const STORAGE = 'toast_tuple_target = 128';

export const PACKED_TABLES = {
  node_pipeline_minutes: dayPartitions('packed_node_pipeline_minutes', 7_236_025, STORAGE),
  pipeline_minutes: dayPartitions('packed_pipeline_minutes', 7_236_026, STORAGE),
  component_minutes: dayPartitions('packed_component_minutes', 7_236_027, STORAGE),
  node_minutes: dayPartitions('packed_node_minutes', 7_236_028, STORAGE),
} as const satisfies Record<MinuteTable, DayPartitions>;

/**
 * SQL of the minutes from `:from` to before `:to`, packed or not, of rows `m` for which `where` holds, with these columns (of
 * measures, the first one is not the utilization). Of packed hours that begin before or end after that, all minutes are
 * there: leaving them out here would take longer than what follows. Arrays are unpacked in the list of columns, side by
 * side: a function in FROM would store each hour before it is read, which takes twice as long. `ofHours` is of packed rows
 * `m`: it leaves out those that have nothing to look for.
 */
export function minutesOf(
  table: MinuteTable,
  where: string,
  columns = LAYOUTS[table].values,
  ofHours = 'true',
): string {
  const { keys, details, isThere } = LAYOUTS[table];
  const of = (alias: string, names: readonly string[]) => names.map((name) => `${alias}.${name}`).join(', ');
  const labels = [...keys, ...details];
  return `(SELECT m.minute, ${of('m', labels)}, ${of('m', columns)} FROM ${table} m
      WHERE m.minute >= :from AND m.minute < :to AND ${where}
    UNION ALL
    SELECT m.hour + (u.place - 1) * interval '1 minute', ${of('m', labels)}, ${of('u', columns)}
    FROM packed_${table} m CROSS JOIN LATERAL (
      SELECT generate_series(1, 60) AS place, ${columns.map((column) => `unnest(m.${column}) AS ${column}`).join(', ')}) u
    WHERE m.hour > :from::timestamptz - interval '1 hour' AND m.hour < :to AND ${where} AND ${ofHours}
      AND ${isThere(columns)})`;
}

/** Hours stay open for points that come late; what comes later still is packed with the next run. */
const OPEN_HOURS = 2;
const PACKING_LOCK = 7_236_029;
/** Values of the key's first column per statement, which then works on some ten thousand rows. */
const KEYS_PER_STATEMENT = 100;

/** Idempotent. Returns how many rows it has packed. */
export async function packMinutes(options: {
  db: Knex;
  clock: Clock;
  log: Logger;
  signal?: AbortSignal;
}): Promise<number> {
  const { db, clock, log, signal } = options;
  const before = new Date(Math.floor(clock.now() / HOUR_MS) * HOUR_MS - (OPEN_HOURS - 1) * HOUR_MS);
  let packed = 0;
  for (const table of Object.keys(LAYOUTS) as MinuteTable[]) {
    const [first = ''] = LAYOUTS[table].keys;
    const { rows } = await db.raw<{ rows: { hour: Date; ids: string[] }[] }>(
      `SELECT hour, array_agg(id ORDER BY id) AS ids FROM (
         SELECT DISTINCT date_trunc('hour', minute, 'UTC') AS hour, ${first} AS id FROM ${table} WHERE minute < ?) series
       GROUP BY hour ORDER BY hour`,
      [before],
    );
    await PACKED_TABLES[table].ensure(db, [...new Set(rows.map(({ hour }) => dayOf(hour.getTime())))]);
    for (const { hour, ids } of rows) {
      const window = { from: hour, to: new Date(hour.getTime() + HOUR_MS) };
      for (let start = 0; start < ids.length && !signal?.aborted; start += KEYS_PER_STATEMENT)
        packed += await packInTurn(db, table, window, ids.slice(start, start + KEYS_PER_STATEMENT));
    }
  }
  if (packed > 0) log.debug({ rows: packed }, 'hours of metrics were packed');
  return packed;
}

interface Hour {
  from: Date;
  to: Date;
}

/** Two controllers that pack one series at once would each miss what the other adds. */
const packInTurn = (db: Knex, table: MinuteTable, hour: Hour, ids: readonly string[]): Promise<number> =>
  db.transaction(async (tx) => {
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [PACKING_LOCK]);
    return packSome(tx, table, hour, ids);
  });

/** Postgres refuses to round to nothing or to infinity, and one node that reports such a value must not keep others unpacked. */
const asReal = (value: string): string =>
  `(CASE WHEN abs(${value}) < 1e-30 THEN 0 WHEN ${value} IS NOT NULL THEN greatest(-3e38, least(${value}, 3e38)) END)::real`;

/** What is packed already of these series and this hour is packed again, together with what has come since. */
async function packSome(db: Knex, table: MinuteTable, hour: Hour, ids: readonly string[]): Promise<number> {
  const { keys, details, values, merge } = LAYOUTS[table];
  const [first = ''] = keys;
  const key = keys.join(', ');
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `WITH gone AS (
       DELETE FROM ${table} WHERE minute >= :from AND minute < :to AND ${first} = ANY (:ids) RETURNING *
     ), before AS (
       SELECT ${[...keys, ...details].map((name) => `p.${name}`).join(', ')}, p.hour + (u.place - 1) * interval '1 minute' AS minute,
         ${values.map((value) => `u.${value}`).join(', ')}
       FROM packed_${table} p, unnest(${values.map((value) => `p.${value}`).join(', ')}) WITH ORDINALITY u(${values.join(', ')}, place)
       WHERE p.hour = :from AND (${keys.map((name) => `p.${name}`).join(', ')}) IN (SELECT ${key} FROM gone)
     ), minutes AS (
       SELECT ${key}, minute, ${details.map((detail) => `max(${detail}) AS ${detail}, `).join('')}
         ${values.map((value) => `${merge(value)} AS ${value}`).join(', ')}
       FROM (SELECT ${[...keys, ...details, 'minute', ...values].join(', ')} FROM gone
         UNION ALL SELECT ${[...keys, ...details, 'minute', ...values].join(', ')} FROM before) all_minutes
       GROUP BY ${key}, minute
     ), series AS (
       SELECT ${key}${details.map((detail) => `, max(${detail}) AS ${detail}`).join('')} FROM minutes GROUP BY ${key}
     )
     INSERT INTO packed_${table} AS p (hour, ${[...keys, ...details, ...values].join(', ')})
     SELECT :from, ${[...keys, ...details].map((name) => `s.${name}`).join(', ')},
       ${values.map((value) => `array_agg(${asReal(`m.${value}`)} ORDER BY place)`).join(', ')}
     FROM series s CROSS JOIN generate_series(0, 59) place
       LEFT JOIN minutes m ON ${keys.map((name) => `m.${name} = s.${name}`).join(' AND ')}
         AND m.minute = :from::timestamptz + place * interval '1 minute'
     GROUP BY ${[...keys, ...details].map((name) => `s.${name}`).join(', ')}
     ON CONFLICT (${key}, hour) DO UPDATE SET ${values.map((value) => `${value} = excluded.${value}`).join(', ')}`,
    { ...hour, ids: [...ids] },
  );
  return rowCount;
}
