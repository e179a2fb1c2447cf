/** Sums of what was counted, as rows of the tables of minutes and hours. */
import type { Knex } from 'knex';
import { type Column, rowsOf } from '../../../database/unnest.ts';
import type { Growth } from './growth.ts';
import { type Counters, type Gauges, NOTHING, type Reading, sumOf } from './reading.ts';

/** What one reading of an engine added. `isCounted`: whether the node was counted in that minute before. */
export interface Grown {
  nodeId: string;
  environmentId: string;
  pipelineId: string;
  reading: Reading;
  growth: Growth;
  isCounted: boolean;
}

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

export async function writeHours(tx: Knex, grown: readonly Grown[]): Promise<void> {
  const [perPipeline, perSink] = [sums(), sums()];
  for (const { environmentId, pipelineId, reading, growth } of grown)
    for (const [index, hour] of growth.hours.entries()) {
      const exits = index === growth.hours.length - 1 ? growth.minute.exits : 0;
      perPipeline.add([pipelineId, environmentId], { ...hour, nodes: 0, exits }, reading.gauges);
      reading.components.forEach(([id], place) => {
        const gauges = reading.componentGauges[place];
        if (gauges?.kind !== 'sink') return;
        const ofSink = { ...hour, counters: hour.components.get(id) ?? NOTHING, nodes: 0, exits: 0 };
        perSink.add([pipelineId, id, environmentId], ofSink, gauges);
      });
    }
  const [pipeline, environment] = [
    { name: 'pipeline_id', index: 0 },
    { name: 'environment_id', index: 1 },
  ];
  await addPoints(tx, 'pipeline_hours', 'hour', [pipeline, environment], perPipeline.sorted());
  const sink = [pipeline, { name: 'component_id', index: 1 }, { name: 'environment_id', index: 2 }];
  await addPoints(tx, 'sink_hours', 'hour', sink, perSink.sorted());
}

export function sums() {
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
export const AMOUNT_COLUMNS = [
  'events_in',
  'events_out',
  'bytes_in',
  'bytes_out',
  'errors',
  'discarded',
] as const;

/** Adds to the points that are there. The key's columns that are in no primary key are those of a new point. */
export async function addPoints(
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
