/** Points of minutes in Postgres, in partitions of a day that retention drops whole. */
import type { Knex } from 'knex';
import { type DayPartitions, dayOf, dayPartitions } from '../../../database/day-partitions.ts';
import { type Column, rowsOf } from '../../../database/unnest.ts';
import { readBreaches } from '../breaches/breach-queries.ts';
import { minuteOf } from '../record/growth.ts';
import type { HostMinute } from '../record/host-meter.ts';
import { addPoints, type Grown, sums } from '../record/points-store.ts';
import { NOTHING } from '../record/reading.ts';
import type { NodeReadings } from '../record/readings-store.ts';
import { readMinuteExits } from '../series/marks-queries.ts';
import { readHost } from '../series/node-queries.ts';
import { largestSeries, minuteSource, readSeries } from '../series/series-queries.ts';
import type { MinuteStore } from './minute-store.ts';
import type { MinuteTable } from './packing-store.ts';

/** Tables of points a minute, each in one partition per day. */
export const MINUTE_TABLES = {
  node_pipeline_minutes: dayPartitions('node_pipeline_minutes', 7_236_021),
  pipeline_minutes: dayPartitions('pipeline_minutes', 7_236_022),
  component_minutes: dayPartitions('component_minutes', 7_236_023),
  node_minutes: dayPartitions('node_minutes', 7_236_024),
} as const satisfies Record<MinuteTable, DayPartitions>;

export const postgresMinutes: MinuteStore = {
  isInPostgres: true,
  async write(tx, grown, nodes) {
    await writePoints(tx, grown);
    await writeHostMinutes(tx, nodes);
  },
  /** A day that nobody has made a partition for ahead of time. */
  async prepare(db, nodes, error) {
    const tables = Object.values(MINUTE_TABLES);
    if (!tables.some((table) => table.isMissing(error))) return false;
    const days = new Set(
      nodes.flatMap(({ readings, hostMinutes }) => [
        ...readings.map(({ reading }) => dayOf(minuteOf(reading.at))),
        ...hostMinutes.map(({ start }) => dayOf(start)),
      ]),
    );
    for (const table of tables) await table.ensure(db, [...days]);
    return true;
  },
  committed() {},
  readSeries: (db, source, options) => readSeries(db, minuteSource(source), options),
  largestSeries: (db, source, window, limit) => largestSeries(db, minuteSource(source), window, limit),
  readExits: readMinuteExits,
  readHost,
  readBreaches,
  sizes: () => ({ waiting: 0, dropped: 0 }),
  async stop() {},
};

async function writePoints(tx: Knex, grown: readonly Grown[]): Promise<void> {
  const [perNode, perPipeline, perComponent] = [sums(), sums(), sums()];
  for (const { nodeId, pipelineId, reading, growth, isCounted } of grown) {
    const { start, seconds, counters, components, exits } = growth.minute;
    const point = { start, seconds, nodes: isCounted ? 0 : 1, counters, exits };
    perNode.add([pipelineId, nodeId], point, reading.gauges);
    perPipeline.add([pipelineId], point, reading.gauges);
    reading.components.forEach(([id], index) => {
      const gauges = reading.componentGauges[index];
      if (!gauges) return;
      const own = { ...point, counters: components.get(id) ?? NOTHING };
      perComponent.add([pipelineId, id, gauges.kind], own, gauges);
    });
  }
  const key = (name: string, index: number) => ({ name, index });
  const pipeline = key('pipeline_id', 0);
  await addPoints(tx, 'node_pipeline_minutes', 'minute', [pipeline, key('node_id', 1)], perNode.sorted());
  await addPoints(tx, 'pipeline_minutes', 'minute', [pipeline], perPipeline.sorted());
  const component = [pipeline, key('component_id', 1), key('kind', 2)];
  await addPoints(tx, 'component_minutes', 'minute', component, perComponent.sorted());
}

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
