/** Stores readings as points of minutes and hours: one transaction, with a fixed number of statements for any number of nodes. */
import type { Knex } from 'knex';
import { type DayPartitions, dayOf, dayPartitions } from '../../../database/day-partitions.ts';
import { retryOnDeadlock } from '../../../database/retry.ts';
import { type Column, rowsOf } from '../../../database/unnest.ts';
import { type Growth, growthOf, isOld, minuteOf } from './growth.ts';
import type { HostMinute } from './host-meter.ts';
import { type Base, type Counters, type Gauges, NOTHING, type Reading, sumOf } from './reading.ts';

export interface NodeReadings {
  nodeId: string;
  environmentId: string;
  /** Oldest first. */
  readings: readonly { pipelineId: string; reading: Reading }[];
  hostMinutes: readonly HostMinute[];
}

/** Tables of points a minute, each in one partition per day. */
export const MINUTE_TABLES = {
  node_pipeline_minutes: dayPartitions('node_pipeline_minutes', 7_236_021),
  pipeline_minutes: dayPartitions('pipeline_minutes', 7_236_022),
  component_minutes: dayPartitions('component_minutes', 7_236_023),
  node_minutes: dayPartitions('node_minutes', 7_236_024),
} as const satisfies Record<string, DayPartitions>;

/** `pointAt` is the minute of the last point: a node is counted once in each minute. */
export type StoredBase = Base & { pointAt: number | null };

/** A sum over readings. `latencySum` is in milliseconds, over `latencyCount` readings. */
interface Point {
  key: readonly string[];
  start: number;
  seconds: number;
  nodes: number;
  counters: Counters;
  exits: number;
  latencySum: number;
  latencyCount: number;
  utilization: number | null;
}

/** The last stored readings that this controller knows of. Another controller may have stored newer ones. */
export interface KnownBases {
  get(nodeId: string, pipelineId: string): StoredBase | undefined;
}

export interface StoredReadings {
  /** By node and pipeline, what is stored now. */
  bases: readonly NewBase[];
  /** Readings whose base another controller has replaced: they are to be stored again, from the new one. */
  stale: readonly SeriesReadings[];
}

/**
 * Several controllers may store readings of one node, and each reading is counted from the last one that any of them has
 * stored: a base is replaced only if it is still the one that was counted from. Skips nodes that are deleted.
 */
export async function storeReadings(
  db: Knex,
  nodes: readonly NodeReadings[],
  known: KnownBases,
  now: number,
): Promise<StoredReadings> {
  const days = new Set(
    nodes.flatMap(({ readings, hostMinutes }) => [
      ...readings.map(({ reading }) => dayOf(minuteOf(reading.at))),
      ...hostMinutes.map(({ start }) => dayOf(start)),
    ]),
  );
  // Controllers that store readings of the same nodes may lock their rows in different orders.
  const store = () => retryOnDeadlock(() => db.transaction((tx) => storeIn(tx, nodes, known, now)));
  try {
    return await store();
  } catch (error) {
    const tables = Object.values(MINUTE_TABLES);
    if (!tables.some((table) => table.isMissing(error))) throw error;
    for (const table of tables) await table.ensure(db, [...days]);
    return await store();
  }
}

export interface SeriesReadings {
  nodeId: string;
  environmentId: string;
  pipelineId: string;
  readings: readonly Reading[];
}

async function storeIn(
  tx: Knex,
  nodes: readonly NodeReadings[],
  known: KnownBases,
  now: number,
): Promise<StoredReadings> {
  const all = nodes.flatMap(({ nodeId, environmentId, readings }) =>
    [...Map.groupBy(readings, ({ pipelineId }) => pipelineId)].map(([pipelineId, own]): SeriesReadings => {
      const inOrder = own.map(({ reading }) => reading);
      return { nodeId, environmentId, pipelineId, readings: inOrder };
    }),
  );
  const found = await readBases(
    tx,
    all.filter(({ nodeId, pipelineId }) => !known.get(nodeId, pipelineId)),
  );
  const changes = all.map((series) => {
    const { nodeId, pipelineId } = series;
    return changeOf(series, known.get(nodeId, pipelineId) ?? found.get(keyOf(series)) ?? null, now);
  });
  const isChanged = ({ base }: Change) => base !== null;
  const first = changes.filter((change) => isChanged(change) && change.before === null);
  const next = changes.filter((change) => isChanged(change) && change.before !== null);
  const written = new Set([...(await insertBases(tx, first)), ...(await replaceBases(tx, next))]);
  const points = createPoints();
  const stored = [...first, ...next].filter(({ series }) => written.has(keyOf(series)));
  for (const { series, grown } of stored)
    for (const { reading, growth, isCounted } of grown) points.add({ ...series, reading, growth, isCounted });
  await points.write(tx);
  await writeHostMinutes(tx, nodes);
  return {
    bases: stored.flatMap(({ series, base }) =>
      base ? [{ nodeId: series.nodeId, pipelineId: series.pipelineId, base }] : [],
    ),
    stale: next.filter(({ series }) => !written.has(keyOf(series))).map(({ series }) => series),
  };
}

const keyOf = ({ nodeId, pipelineId }: { nodeId: string; pipelineId: string }): string =>
  `${nodeId} ${pipelineId}`;

interface Change {
  series: SeriesReadings;
  before: StoredBase | null;
  /** Null if no reading is newer than the one before. */
  base: StoredBase | null;
  /** `isCounted`: whether the node was counted in that minute before. */
  grown: { reading: Reading; growth: Growth; isCounted: boolean }[];
}

function changeOf(series: SeriesReadings, before: StoredBase | null, now: number): Change {
  const grown: Change['grown'] = [];
  let base: StoredBase | null = null;
  for (const reading of series.readings) {
    const last: StoredBase | null = base ?? before;
    if (last && isOld(last, reading, now)) continue;
    const growth = growthOf(last, reading, now);
    const pointAt: number | null = growth?.minute.start ?? last?.pointAt ?? null;
    if (growth) grown.push({ reading, growth, isCounted: last?.pointAt === growth.minute.start });
    base = { ...baseOf(reading, last), pointAt };
  }
  return { series, before, base, grown };
}

const seriesColumns = (series: readonly { nodeId: string; pipelineId: string }[]): Column[] => [
  ['node_id', 'text', series.map(({ nodeId }) => nodeId)],
  ['pipeline_id', 'text', series.map(({ pipelineId }) => pipelineId)],
];

async function readBases(tx: Knex, series: readonly SeriesReadings[]): Promise<Map<string, StoredBase>> {
  if (series.length === 0) return new Map();
  const batch = rowsOf(seriesColumns(series));
  const { rows } = await tx.raw<{ rows: { nodeId: string; pipelineId: string; reading: StoredBase }[] }>(
    `SELECT r.node_id AS "nodeId", r.pipeline_id AS "pipelineId", r.reading
     FROM series_readings r JOIN ${batch.source} USING (node_id, pipeline_id)`,
    batch.values,
  );
  return new Map(rows.map((row) => [keyOf(row), row.reading]));
}

/** Returns the series that were written: of nodes that are there, and whose first reading no other controller has stored. */
async function insertBases(tx: Knex, changes: readonly Change[]): Promise<string[]> {
  if (changes.length === 0) return [];
  const batch = rowsOf(baseColumns(changes));
  const { rows } = await tx.raw<{ rows: { nodeId: string; pipelineId: string }[] }>(
    `INSERT INTO series_readings (node_id, pipeline_id, read_at, reading)
     SELECT b.node_id, b.pipeline_id, b.read_at, b.reading::jsonb
     FROM ${batch.source} JOIN nodes n ON n.id = b.node_id ORDER BY b.node_id, b.pipeline_id
     ON CONFLICT DO NOTHING RETURNING node_id AS "nodeId", pipeline_id AS "pipelineId"`,
    batch.values,
  );
  return rows.map(keyOf);
}

/** Returns the series that were written: those whose base is still the one before. */
async function replaceBases(tx: Knex, changes: readonly Change[]): Promise<string[]> {
  if (changes.length === 0) return [];
  const batch = rowsOf([
    ...baseColumns(changes),
    ['before', 'timestamptz', changes.map(({ before }) => new Date(before?.at ?? 0))],
  ]);
  const { rows } = await tx.raw<{ rows: { nodeId: string; pipelineId: string }[] }>(
    `UPDATE series_readings r SET read_at = b.read_at, reading = b.reading::jsonb FROM ${batch.source}
     WHERE r.node_id = b.node_id AND r.pipeline_id = b.pipeline_id AND r.read_at = b.before
     RETURNING r.node_id AS "nodeId", r.pipeline_id AS "pipelineId"`,
    batch.values,
  );
  return rows.map(keyOf);
}

const baseColumns = (changes: readonly Change[]): Column[] => [
  ...seriesColumns(changes.map(({ series }) => series)),
  ['read_at', 'timestamptz', changes.map(({ base }) => new Date(base?.at ?? 0))],
  ['reading', 'jsonb', changes.map(({ base }) => JSON.stringify(base))],
];

/** An engine that is down has neither pid nor uptime: the next one is recognized by those of the last that had. */
const baseOf = (reading: Reading, before: Base | null): Base => {
  const { at, version, restarts, counters, components } = reading;
  const isDown = reading.pid === null && before?.version === version;
  const pid = isDown ? before.pid : reading.pid;
  const uptimeSeconds = reading.uptimeSeconds ?? (isDown ? before.uptimeSeconds : null);
  return { at, version, pid, uptimeSeconds, restarts, counters, components };
};

interface NewBase {
  nodeId: string;
  pipelineId: string;
  base: StoredBase;
}

interface Grown {
  nodeId: string;
  environmentId: string;
  pipelineId: string;
  reading: Reading;
  growth: Growth;
  isCounted: boolean;
}

function createPoints() {
  const [perNode, perPipeline, perComponent] = [sums(), sums(), sums()];
  const [perHour, perSinkHour] = [sums(), sums()];
  return {
    add({ nodeId, environmentId, pipelineId, reading, growth, isCounted }: Grown): void {
      const { start, seconds, counters, components, exits } = growth.minute;
      const nodes = isCounted ? 0 : 1;
      const point = { start, seconds, nodes, counters, exits };
      perNode.add([pipelineId, nodeId], point, reading.gauges);
      perPipeline.add([pipelineId], point, reading.gauges);
      reading.components.forEach(([id], index) => {
        const gauges = reading.componentGauges[index];
        if (!gauges) return;
        const own = { ...point, counters: components.get(id) ?? NOTHING };
        perComponent.add([pipelineId, id, gauges.kind], own, gauges);
        if (gauges.kind !== 'sink') return;
        for (const hour of growth.hours) {
          const ofSink = { ...hour, counters: hour.components.get(id) ?? NOTHING, nodes: 0, exits: 0 };
          perSinkHour.add([pipelineId, id, environmentId], ofSink, gauges);
        }
      });
      for (const [index, hour] of growth.hours.entries()) {
        const isLast = index === growth.hours.length - 1;
        const ofPipeline = { ...hour, nodes: 0, exits: isLast ? exits : 0 };
        perHour.add([pipelineId, environmentId], ofPipeline, reading.gauges);
      }
    },
    async write(tx: Knex): Promise<void> {
      const text = (name: string, index: number) => ({ name, index });
      const [pipeline, node] = [text('pipeline_id', 0), text('node_id', 1)];
      await addPoints(tx, 'node_pipeline_minutes', 'minute', [pipeline, node], perNode.sorted());
      await addPoints(tx, 'pipeline_minutes', 'minute', [pipeline], perPipeline.sorted());
      const component = [pipeline, text('component_id', 1), text('kind', 2)];
      await addPoints(tx, 'component_minutes', 'minute', component, perComponent.sorted());
      await addPoints(tx, 'pipeline_hours', 'hour', [pipeline, text('environment_id', 1)], perHour.sorted());
      const sink = [pipeline, text('component_id', 1), text('environment_id', 2)];
      await addPoints(tx, 'sink_hours', 'hour', sink, perSinkHour.sorted());
    },
  };
}

function sums() {
  const byKey = new Map<string, Point>();
  return {
    add(
      key: readonly string[],
      {
        start,
        seconds,
        nodes,
        counters,
        exits,
      }: Pick<Point, 'start' | 'seconds' | 'nodes' | 'counters' | 'exits'>,
      { latencyMs, utilization }: Gauges,
    ): void {
      // No id has this character: what agents report is stored without it.
      const id = `${key.join('\0')}\0${start}`;
      const point = byKey.get(id);
      const latencyCount = latencyMs === null ? 0 : 1;
      if (!point) {
        const latencySum = latencyMs ?? 0;
        byKey.set(id, { key, start, seconds, nodes, exits, counters, latencySum, latencyCount, utilization });
        return;
      }
      point.seconds += seconds;
      point.nodes += nodes;
      point.exits += exits;
      point.counters = sumOf(point.counters, counters);
      point.latencySum += latencyMs ?? 0;
      point.latencyCount += latencyCount;
      point.utilization = largest(point.utilization, utilization);
    },
    /** In one order everywhere, so that two controllers that write the same rows do not wait for each other in a circle. */
    sorted: () => [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, point]) => point),
  };
}

const largest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);

/** The columns of a point, as they are in the tables. */
const AMOUNT_COLUMNS = ['events_in', 'events_out', 'bytes_in', 'bytes_out', 'errors', 'discarded'] as const;

/** Adds to the points that are there. The key's columns that are in no primary key are those of a new point. */
async function addPoints(
  tx: Knex,
  table: string,
  time: 'minute' | 'hour',
  keys: readonly { name: string; index: number }[],
  points: readonly Point[],
): Promise<void> {
  if (points.length === 0) return;
  const column = <T>(pick: (point: Point) => T) => points.map(pick);
  const columns: Column[] = [
    [time, 'timestamptz', column(({ start }) => new Date(start))],
    ...keys.map(({ name, index }): Column => [name, 'text', column(({ key }) => key[index])]),
    ['seconds', 'double precision', column(({ seconds }) => seconds)],
    ['nodes', 'integer', column(({ nodes }) => nodes)],
    ...AMOUNT_COLUMNS.map(
      (name, index): Column => [name, 'double precision', column(({ counters }) => counters[index])],
    ),
    ['exits', 'integer', column(({ exits }) => exits)],
    ['latency_sum', 'double precision', column(({ latencySum }) => latencySum)],
    ['latency_count', 'integer', column(({ latencyCount }) => latencyCount)],
    ['utilization', 'double precision', column(({ utilization }) => utilization)],
  ];
  const added = ['seconds', 'nodes', ...AMOUNT_COLUMNS, 'exits', 'latency_sum', 'latency_count']
    .map((name) => `${name} = p.${name} + excluded.${name}`)
    .join(', ');
  const batch = rowsOf(columns);
  const unique = [...keys.map(({ name }) => name).filter((name) => !DETAILS.has(name)), time].join(', ');
  await tx.raw(
    `INSERT INTO ${table} AS p (${batch.names}) SELECT ${batch.picked} FROM ${batch.source}
     ON CONFLICT (${unique}) DO UPDATE SET ${added}, utilization = GREATEST(p.utilization, excluded.utilization)`,
    batch.values,
  );
}

/** Columns that a key decides. */
const DETAILS = new Set(['kind', 'environment_id']);

async function writeHostMinutes(tx: Knex, nodes: readonly NodeReadings[]): Promise<void> {
  const minutes = nodes.flatMap(({ nodeId, hostMinutes }) =>
    hostMinutes.map((minute) => ({ nodeId, minute })),
  );
  if (minutes.length === 0) return;
  const column = (pick: (minute: HostMinute) => number | null) => minutes.map(({ minute }) => pick(minute));
  const columns: Column[] = [
    ['minute', 'timestamptz', minutes.map(({ minute }) => new Date(minute.start))],
    ['node_id', 'text', minutes.map(({ nodeId }) => nodeId)],
    ['cpu_percent', 'double precision', column((m) => m.cpuPercent)],
    ['memory_used_bytes', 'double precision', column((m) => m.memoryUsedBytes)],
    ['memory_total_bytes', 'double precision', column((m) => m.memoryTotalBytes)],
    ['load_avg1', 'double precision', column((m) => m.loadAvg1)],
    ['fs_used_bytes', 'double precision', column((m) => m.fsUsedBytes)],
    ['fs_total_bytes', 'double precision', column((m) => m.fsTotalBytes)],
    ['disk_read_rate', 'double precision', column((m) => m.diskReadRate)],
    ['disk_written_rate', 'double precision', column((m) => m.diskWrittenRate)],
    ['net_rx_rate', 'double precision', column((m) => m.netRxRate)],
    ['net_tx_rate', 'double precision', column((m) => m.netTxRate)],
  ];
  const batch = rowsOf(columns);
  const updated = columns
    .slice(2)
    .map(([name]) => `${name} = coalesce(excluded.${name}, p.${name})`)
    .join(', ');
  await tx.raw(
    `INSERT INTO node_minutes AS p (${batch.names})
     SELECT DISTINCT ON (b.node_id, b.minute) ${batch.picked} FROM ${batch.source} ORDER BY b.node_id, b.minute
     ON CONFLICT (node_id, minute) DO UPDATE SET ${updated}`,
    batch.values,
  );
}

/** Bases of series that nobody has reported for long. */
export async function deleteReadingsBefore(db: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM series_readings WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM series_readings WHERE read_at < ? LIMIT ?))`,
    [before, limit],
  );
  return rowCount;
}

export async function deleteHoursBefore(db: Knex, before: Date, limit: number): Promise<number> {
  let deleted = 0;
  for (const table of ['pipeline_hours', 'sink_hours']) {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE hour < ? LIMIT ?))`,
      [before, limit - deleted],
    );
    deleted += rowCount;
  }
  return deleted;
}
