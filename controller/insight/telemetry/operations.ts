import {
  ChartMetrics,
  ChartMetricsInput,
  ComponentLatencyHistory,
  ComponentMetrics,
  GetComponentLatencyHistory,
  GetComponentMetrics,
  GetLiveRates,
  GetNodePipelineRates,
  GetPipelineMetrics,
  GetRecentRates,
  LiveRates,
  MAX_CHART_SERIES,
  type MetricsSeries,
  NodeMetrics,
  NodeMetricsInput,
  NodePipelineRates,
  PipelineMetrics,
  PipelineMetricsByHours,
  RecentRates,
} from '../../../schemas/api/insight/metrics.ts';
import { readStatus, sumRates } from '../../fleet/status/index.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import { listComponentReports, watchPipeline } from '../../pipelines/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { query } from '../../platform/operation/operation.ts';
import type { EnvironmentFilter, SeriesOptions } from './minutes/minute-store.ts';
import { componentsNow } from './series/components-now.ts';
import { emptySeries } from './series/empty-series.ts';
import { readEnvironmentMarks } from './series/environment-marks-queries.ts';
import { readAlertMarks, readHourExits, readMarks } from './series/marks-queries.ts';
import {
  environmentSource,
  largestSeries,
  namesOf,
  needsNodes,
  pipelineHours,
  readSeries,
} from './series/series-queries.ts';
import { isByHours, type Window, windowByHours, windowOf } from './series/window.ts';

const MINUTES = { pipeline: 60, components: 5, latency: 60 } as const;
const HOURS = 24;
const CHART_HOURS = { '1h': 1, '6h': 6, '1d': 24, '7d': 168 } as const;
/** Of an environment: longer times are read by the hour. */
const MAX_ADDED_MINUTES = 1_440;

const shown = ({ from, to, stepSeconds }: Window) => ({
  from: new Date(from),
  to: new Date(to),
  stepSeconds,
});
/** The validated input holds dates as text. */
const endOf = (ctx: Context, end: Date | undefined): number =>
  Math.min(end ? new Date(end).getTime() : ctx.clock.now(), ctx.clock.now());
const nowOf = (ctx: Context) => new Date(ctx.clock.now());

async function pipelineSeries(ctx: Context, pipelineId: string, window: Window): Promise<PipelineMetrics> {
  const { minutes } = ctx.services;
  const options = { window, extremes: true };
  const byHours = isByHours(window);
  const [one = emptySeries(pipelineId, window)] = byHours
    ? await readSeries(ctx.db, pipelineHours(pipelineId), options, nowOf(ctx))
    : await minutes.readSeries(ctx.db, { of: 'pipeline', pipelineId }, options);
  const exits = await (byHours ? readHourExits : minutes.readExits)(ctx.db, pipelineId, window);
  const marks = await readMarks(ctx.db, pipelineId, window, exits);
  return { pipelineId, ...shown(window), series: [one], marks };
}

/** One series for each of several components or nodes, those with the most events first. */
async function parts(
  ctx: Context,
  pipelineId: string,
  of: 'components' | 'nodes',
  window: Window,
): Promise<MetricsSeries[]> {
  const { minutes } = ctx.services;
  const series = await minutes.readSeries(ctx.db, { of, pipelineId }, { window, extremes: false });
  const ids = series.map(({ id }) => id);
  const names = of === 'nodes' ? await namesOf(ctx.db, 'nodes', ids) : new Map(ids.map((id) => [id, id]));
  return series
    .map((one) => ({ ...one, name: names.get(one.id) ?? null }))
    .sort((a, b) => b.totals.eventsIn + b.totals.eventsOut - a.totals.eventsIn - a.totals.eventsOut)
    .slice(0, MAX_CHART_SERIES);
}

export const getPipelineMetrics = query({
  name: 'metrics.getPipelineMetrics',
  summary: 'What a pipeline moved, minute by minute: of all nodes together, or of each component or node',
  role: 'VIEWER',
  input: GetPipelineMetrics,
  output: PipelineMetrics,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, minutes = MINUTES.pipeline, end, groupBy }) {
    const window = windowOf(minutes, endOf(ctx, end));
    if (!groupBy) return pipelineSeries(ctx, pipelineId, window);
    const series = await parts(ctx, pipelineId, groupBy === 'node' ? 'nodes' : 'components', window);
    return { pipelineId, ...shown(window), series, marks: [] };
  },
});

export const pipelineMetrics = query({
  name: 'pipeline.metrics',
  summary: 'What a pipeline moved, over up to 13 months',
  role: 'VIEWER',
  input: PipelineMetricsByHours,
  output: PipelineMetrics,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: (ctx, { pipelineId, hours = HOURS, end }) =>
    pipelineSeries(ctx, pipelineId, windowOf(hours * 60, endOf(ctx, end))),
});

export const getComponentMetrics = query({
  name: 'metrics.getComponentMetrics',
  summary: 'What each component of a pipeline moves now, and moved in the last minutes',
  role: 'VIEWER',
  input: GetComponentMetrics,
  output: ComponentMetrics,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, minutes = MINUTES.components }) {
    watchPipeline(ctx, pipelineId);
    const window = windowOf(minutes, ctx.clock.now());
    const { environmentId } = await objectScope(ctx, 'Pipeline', pipelineId);
    const { pipelines } = await readStatus(ctx, { environmentId: environmentId ?? '', pipelineId });
    return {
      pipelineId,
      ...shown(window),
      series: await parts(ctx, pipelineId, 'components', window),
      now: componentsNow(await listComponentReports(ctx.db, pipelineId), pipelines[0]?.onNodes ?? []),
    };
  },
});

export const getComponentLatencyHistory = query({
  name: 'metrics.getComponentLatencyHistory',
  summary: 'How long events spent in each component of a pipeline',
  role: 'VIEWER',
  input: GetComponentLatencyHistory,
  output: ComponentLatencyHistory,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, minutes = MINUTES.latency }) {
    const window = windowOf(minutes, ctx.clock.now());
    const series = await parts(ctx, pipelineId, 'components', window);
    return {
      pipelineId,
      ...shown(window),
      components: series
        .filter(({ latencyMs }) => latencyMs.some((value) => value !== null))
        .map(({ id, kind = '', latencyMs }) => ({ componentId: id, kind, latencyMs })),
    };
  },
});

export const getNodePipelineRates = query({
  name: 'metrics.getNodePipelineRates',
  summary: 'What each pipeline of a node moves now',
  role: 'VIEWER',
  input: GetNodePipelineRates,
  output: NodePipelineRates,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId }) {
    const { environmentId } = await objectScope(ctx, 'Node', nodeId);
    const { nodes } = await readStatus(ctx, { environmentId: environmentId ?? '', nodeId });
    const status = nodes[0];
    return {
      nodeId,
      at: status?.node.heardAt ?? null,
      pipelines: (status?.pipelines ?? []).map((entry) => ({
        pipelineId: entry.pipelineId,
        name: entry.pipelineName,
        status: entry.status,
        rates: entry.rates,
      })),
    };
  },
});

export const getLiveRates = query({
  name: 'metrics.getLiveRates',
  summary: 'What each pipeline of an environment moves now',
  role: 'VIEWER',
  input: GetLiveRates,
  output: LiveRates,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const { pipelines } = await readStatus(ctx, { environmentId });
    return {
      environmentId,
      at: nowOf(ctx),
      total: sumRates(pipelines),
      pipelines: pipelines.map(({ pipeline, rates, counts }) => ({
        pipelineId: pipeline.id,
        rates,
        running: counts.running,
      })),
    };
  },
});

export const nodeMetrics = query({
  name: 'fleet.nodeMetrics',
  summary: 'CPU, memory, load, disks and network of a node over time, and what its pipelines moved',
  role: 'VIEWER',
  input: NodeMetricsInput,
  output: NodeMetrics,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId, hours = HOURS, minutes = hours * 60, end }) {
    const window = windowOf(minutes, endOf(ctx, end));
    const { minutes: store } = ctx.services;
    const options = { window, extremes: true };
    const [throughput = emptySeries('', window)] = await store.readSeries(
      ctx.db,
      { of: 'node', nodeId },
      options,
    );
    const host = await store.readHost(ctx.db, nodeId, window);
    const marks = await readAlertMarks(ctx.db, { nodeId }, window);
    return { nodeId, ...shown(window), ...host, pipelines: throughput, marks };
  },
});

/** Hours are always in Postgres. */
function chartReader({ db, services: { minutes }, clock }: Context, byHours: boolean) {
  const ofMinutes = (filter: EnvironmentFilter) => !byHours || needsNodes(filter);
  return {
    series: (filter: EnvironmentFilter, options: SeriesOptions) =>
      ofMinutes(filter)
        ? minutes.readSeries(db, { of: 'environment', ...filter }, options)
        : readSeries(db, environmentSource(filter, 'hour'), options, new Date(clock.now())),
    largest: (filter: EnvironmentFilter, window: Window) =>
      ofMinutes(filter)
        ? minutes.largestSeries(db, { of: 'environment', ...filter }, window, MAX_CHART_SERIES)
        : largestSeries(db, environmentSource(filter, 'hour'), window, MAX_CHART_SERIES),
  };
}

export const chartMetrics = query({
  name: 'dashboard.chartMetrics',
  summary:
    'What an environment moved over time: all together, or by pipeline or node; and what happened meanwhile',
  role: 'VIEWER',
  input: ChartMetricsInput,
  output: ChartMetrics,
  weight: 'heavy',
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, nodeIds = null, pipelineIds = null, range = '1h', end, ...input }) {
    const { groupBy = 'aggregate', minutes = CHART_HOURS[range] * 60 } = input;
    // 1,000 pipelines by the minute are too many to add up.
    const byHours = minutes > MAX_ADDED_MINUTES;
    const whole = windowOf(minutes, endOf(ctx, end));
    const window = byHours && !isByHours(whole) ? windowByHours(whole) : whole;
    const filter = { environmentId, nodeIds, pipelineIds, groupBy };
    const read = chartReader(ctx, byHours);
    const answer = {
      environmentId,
      ...shown(window),
      marks: await readEnvironmentMarks(ctx.db, filter, window),
    };
    if (groupBy === 'aggregate') {
      const [all = emptySeries('', window)] = await read.series(filter, { window, extremes: true });
      return { ...answer, series: [all], total: 1 };
    }
    const { ids, total } = await read.largest(filter, window);
    const largest = { ...filter, ...(groupBy === 'node' ? { nodeIds: ids } : { pipelineIds: ids }) };
    const series = await read.series(largest, { window, extremes: false });
    const names = await namesOf(ctx.db, groupBy === 'node' ? 'nodes' : 'pipelines', ids);
    const byId = new Map(series.map((one) => [one.id, { ...one, name: names.get(one.id) ?? null }]));
    return { ...answer, series: ids.flatMap((id) => byId.get(id) ?? []), total };
  },
});

export const getRecentRates = query({
  name: 'metrics.getRecentRates',
  summary: 'What an environment moved in the last hour, for sparklines: together, or by pipeline or node',
  role: 'VIEWER',
  input: GetRecentRates,
  output: RecentRates,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, groupBy: group }) {
    const groupBy = group ?? ('aggregate' as const);
    const window = { ...windowOf(MINUTES.pipeline, ctx.clock.now()), stepSeconds: 120 };
    const halved = { ...window, steps: Math.ceil(window.steps / 2) };
    const series = await ctx.services.minutes.readSeries(
      ctx.db,
      { of: 'environment', environmentId, nodeIds: null, pipelineIds: null, groupBy },
      { window: halved, extremes: false },
    );
    return {
      environmentId,
      ...shown(halved),
      series: series.map(({ id, mean }) => ({ id, eventsIn: mean.eventsIn, errors: mean.errors })),
    };
  },
});
