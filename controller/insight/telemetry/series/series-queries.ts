/** Reads points as series: summed over what a series stands for, then averaged over the steps of a window. */
import type { Knex } from 'knex';
import type {
  MetricsSeries,
  RateValues,
  StepValues,
  Totals,
} from '../../../../schemas/api/insight/metrics.ts';
import type { EnvironmentFilter, MinuteSource, SeriesOptions } from '../minutes/minute-store.ts';
import { type MinuteTable, minutesOf } from '../minutes/packing-store.ts';
import type { Window } from './window.ts';

/** Rates of the step, and sums: in the order of the columns of `RATES`. */
const RATES = ['events_in', 'events_out', 'bytes_in', 'bytes_out', 'errors', 'discarded'] as const;
const NAMES = ['eventsIn', 'eventsOut', 'bytesIn', 'bytesOut', 'errors', 'discarded'] as const;

interface Source {
  table: MinuteTable | 'pipeline_hours';
  /** SQL of a row's id in its series. */
  key: string;
  /** Whether a series has one row for each moment; otherwise rows of a moment are added up. */
  isSingle?: boolean;
  /** SQL of a component's kind. */
  kind?: string;
  where: string;
  bindings: Record<string, unknown>;
}

interface SeriesRow {
  key: string;
  kind: string | null;
  /** One array per step: its number, then the values in the order of `columnsOf`. */
  points: (number | null)[][];
}

/** Points of a minute hold amounts of all nodes: their rate is what one second of all nodes together counted. */
const MINUTE_RATE = (column: string, total: Total) => total(`m.${column} * m.nodes / nullif(m.seconds, 0)`);
/** The running hour is shorter. */
const HOUR_RATE = (column: string, total: Total) =>
  `${total(`m.${column}`)} / greatest(1, extract(epoch FROM least(:now::timestamptz, m.hour + interval '1 hour') - m.hour))`;

const timeOf = ({ table }: Source): 'minute' | 'hour' => (table === 'pipeline_hours' ? 'hour' : 'minute');

/** Rows `m` of the source in the window. */
const rowsIn = ({ table, where }: Source, columns?: readonly string[]): string =>
  table === 'pipeline_hours'
    ? `${table} m WHERE m.hour >= :from AND m.hour < :to AND ${where}`
    : `${minutesOf(table, where, columns)} m`;

/** SQL of the sum of a moment's rows. */
type Total = (value: string) => string;

export async function readSeries(
  db: Knex,
  source: Source,
  { window, extremes }: SeriesOptions,
  /** For hours, of which the running one is shorter. */
  now?: Date,
): Promise<MetricsSeries[]> {
  const { key, kind = 'NULL', bindings, isSingle = false } = source;
  const time = timeOf(source);
  const rate = time === 'minute' ? MINUTE_RATE : HOUR_RATE;
  const withExtremes = extremes && time === 'minute';
  const total: Total = (value) => (isSingle ? value : `sum(${value})`);
  const values = [
    // Postgres keeps squares for `avg`, too.
    ...RATES.map((column) => `sum(r_${column}) / count(r_${column})`),
    ...(withExtremes ? RATES.flatMap((column) => [`min(r_${column})`, `max(r_${column})`]) : []),
    ...RATES.map((column) => `sum(s_${column})`),
    ...['sum(exits)', 'sum(latency_sum) / nullif(sum(latency_count), 0)', 'max(utilization)'],
  ];
  const { rows } = await db.raw<{ rows: SeriesRow[] }>(
    `WITH moments AS (
       SELECT ${key} AS key, ${kind} AS kind, m.${time} AS at,
         ${RATES.map((column) => `${rate(column, total)} AS r_${column}, ${total(`m.${column}`)} AS s_${column}`).join(', ')},
         ${total('m.exits')} AS exits, ${total('m.latency_sum')} AS latency_sum,
         ${total('m.latency_count')} AS latency_count, ${isSingle ? 'm.utilization' : 'max(m.utilization)'} AS utilization
       FROM ${rowsIn(source)}
       ${isSingle ? '' : 'GROUP BY 1, 2, 3'}
     ), steps AS (
       SELECT key, kind, floor((date_part('epoch', at) - :fromSeconds) / :step)::int AS step,
         ${values.map((value, index) => `${value} AS v${index}`).join(', ')}
       FROM moments GROUP BY 1, 2, 3
     )
     SELECT key, kind, json_agg(json_build_array(step, ${values.map((_, index) => `v${index}`).join(', ')})) AS points
     FROM steps GROUP BY 1, 2`,
    {
      ...bindings,
      from: new Date(window.from),
      to: new Date(window.to),
      ...(now ? { now } : {}),
      fromSeconds: window.from / 1_000,
      step: window.stepSeconds,
    },
  );
  return rows.map((row) => seriesOf(row, window, withExtremes));
}

function seriesOf({ key, kind, points }: SeriesRow, { steps }: Window, withExtremes: boolean): MetricsSeries {
  const empty = (): StepValues => new Array(steps).fill(null);
  const lists = Array.from({ length: points[0] ? points[0].length - 1 : 0 }, empty);
  for (const [step, ...values] of points)
    values.forEach((value, index) => {
      const list = lists[index];
      if (list && step !== null && step !== undefined && step >= 0 && step < steps)
        list[step] = rounded(value);
    });
  const next = lists.values();
  const take = (): StepValues => next.next().value ?? empty();
  const mean = ratesOf(take);
  const extremes = withExtremes ? NAMES.map(() => [take(), take()] as const) : [];
  const sums = NAMES.map(() => sum(take()));
  const exits = sum(take());
  const pick = (part: 0 | 1) => {
    const lists = extremes.map((pair) => pair[part]).values();
    return ratesOf(() => lists.next().value ?? empty());
  };
  return {
    id: key,
    name: null,
    ...(kind === null ? {} : { kind }),
    mean,
    ...(withExtremes ? { min: pick(0), max: pick(1) } : {}),
    latencyMs: take(),
    utilization: take(),
    totals: {
      ...(Object.fromEntries(NAMES.map((name, index) => [name, sums[index] ?? 0])) as Totals),
      exits,
    },
  };
}

const ratesOf = (take: () => StepValues): RateValues =>
  Object.fromEntries(NAMES.map((name) => [name, take()])) as RateValues;

const sum = (values: StepValues): number => values.reduce<number>((total, value) => total + (value ?? 0), 0);

/** Four digits after the point: more would only make answers longer. */
const rounded = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Math.round(value * 10_000) / 10_000;

export function minuteSource(source: MinuteSource): Source {
  if (source.of === 'environment') return environmentSource(source, 'minute');
  if (source.of === 'node')
    return {
      ...{ table: 'node_pipeline_minutes', key: `''::text` },
      ...{ where: 'm.node_id = :nodeId', bindings: { nodeId: source.nodeId } },
    };
  if (source.of === 'pipelines')
    return {
      ...{ table: 'pipeline_minutes', key: 'm.pipeline_id', isSingle: true },
      ...{ where: 'm.pipeline_id = ANY (:pipelineIds)', bindings: { pipelineIds: [...source.pipelineIds] } },
    };
  const { pipelineId } = source;
  const ofPipeline = { isSingle: true, bindings: { pipelineId } };
  switch (source.of) {
    case 'pipeline':
      return {
        ...{ ...ofPipeline, table: 'pipeline_minutes', key: 'm.pipeline_id' },
        where: 'm.pipeline_id = :pipelineId',
      };
    case 'components':
      return {
        ...{ ...ofPipeline, table: 'component_minutes', key: 'm.component_id', kind: 'm.kind' },
        where: 'm.pipeline_id = :pipelineId',
      };
    case 'nodes':
      return {
        ...{ ...ofPipeline, table: 'node_pipeline_minutes', key: 'm.node_id' },
        // The index begins with the node.
        where: `m.node_id = ANY (ARRAY(SELECT r.node_id FROM series_readings r WHERE r.pipeline_id = :pipelineId))
          AND m.pipeline_id = :pipelineId`,
      };
  }
}

export const pipelineHours = (pipelineId: string): Source => ({
  ...{ table: 'pipeline_hours', key: 'm.pipeline_id', isSingle: true },
  ...{ where: 'm.pipeline_id = :pipelineId', bindings: { pipelineId } },
});

/** Points of single nodes are needed where nodes are asked for; otherwise those of pipelines, which are fewer. */
export function environmentSource(filter: EnvironmentFilter, time: 'minute' | 'hour'): Source {
  const { environmentId, nodeIds, pipelineIds, groupBy } = filter;
  const ofPipelines = `m.pipeline_id = ANY (ARRAY(SELECT p.id FROM pipelines p WHERE p.environment_id = :environmentId
    AND p.tombstoned_at IS NULL AND (:allPipelines OR p.id = ANY (:pipelineIds))))`;
  const ofNodes = `m.node_id = ANY (ARRAY(SELECT n.id FROM nodes n WHERE n.environment_id = :environmentId
    AND (:allNodes OR n.id = ANY (:nodeIds))))`;
  const key = { pipeline: 'm.pipeline_id', node: 'm.node_id', aggregate: `''::text` }[groupBy];
  const pipelines = {
    allPipelines: pipelineIds === null,
    pipelineIds: [...(pipelineIds ?? [])],
    environmentId,
  };
  if (needsNodes(filter))
    return {
      ...{ table: 'node_pipeline_minutes', key, where: `${ofPipelines} AND ${ofNodes}` },
      bindings: { ...pipelines, allNodes: nodeIds === null, nodeIds: [...(nodeIds ?? [])] },
    };
  return {
    ...{ table: `pipeline_${time}s` as const, key, where: ofPipelines, bindings: pipelines },
    isSingle: groupBy === 'pipeline',
  };
}

/** By the hour there are no points of single nodes. */
export const needsNodes = ({ nodeIds, groupBy }: EnvironmentFilter): boolean =>
  nodeIds !== null || groupBy === 'node';

/** The series with the most bytes, and how many there are. */
export async function largestSeries(
  db: Knex,
  source: Source,
  { from, to }: Pick<Window, 'from' | 'to'>,
  limit: number,
): Promise<{ ids: string[]; total: number }> {
  const { key, bindings } = source;
  const { rows } = await db.raw<{ rows: { id: string; total: number }[] }>(
    `SELECT ${key} AS id, count(*) OVER ()::int AS total FROM ${rowsIn(source, ['bytes_in', 'bytes_out'])}
     GROUP BY 1 ORDER BY sum(m.bytes_in) + sum(m.bytes_out) DESC, 1 LIMIT :limit`,
    { ...bindings, from: new Date(from), to: new Date(to), limit },
  );
  return { ids: rows.map(({ id }) => id), total: rows[0]?.total ?? 0 };
}

export async function namesOf(
  db: Knex,
  table: 'pipelines' | 'nodes',
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; name: string }[] = await db(table).whereIn('id', ids).select('id', 'name');
  return new Map(rows.map(({ id, name }) => [id, name]));
}
