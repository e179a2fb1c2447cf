import {
  AnalyticsInput,
  CostByEnvironment,
  CostByPipeline,
  CostBySink,
  CostByTeam,
  CostCsv,
  CostSummary,
  CostTimeSeries,
  CostTimeSeriesInput,
  MAX_COST_PIPELINES,
  MAX_COST_SERIES,
  MAX_COST_SINKS,
  TopPipelines,
} from '../../../schemas/api/insight/analytics.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound } from '../../platform/operation/errors.ts';
import { query } from '../../platform/operation/operation.ts';
import { csvRow } from '../../platform/text/csv.ts';
import { HOUR_MS, type Period, periodOf } from './period.ts';
import { type Amounts, costOf, sumVolumes, volumeOf } from './volume.ts';
import {
  type EnvironmentRef,
  listEnvironments,
  pipelineNames,
  sumByEnvironment,
  sumByPipeline,
  sumBySink,
  sumBySteps,
} from './volume-queries.ts';

const TOP_PIPELINES = 5;
const NO_AMOUNTS: Amounts = { eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0 };

const rights = {
  role: 'VIEWER',
  weight: 'heavy',
  scope: (ctx: Context, input: AnalyticsInput) => environmentScope(ctx, input.environmentId),
} as const;

const currentPeriod = ({ clock, services }: Context, range: AnalyticsInput['range']): Period =>
  periodOf(range, clock.now(), services.minutes.isInPostgres);

const shown = ({ from, to }: Period) => ({ from: new Date(from), to: new Date(to) });

async function environmentOf(ctx: Context, environmentId: string): Promise<EnvironmentRef> {
  const [environment] = await listEnvironments(ctx.db, { environmentId });
  if (!environment) throw notFound('Environment');
  return environment;
}

/** Environments of the caller's teams, and of all teams for a super admin. */
function visibleEnvironments(ctx: Context): Promise<EnvironmentRef[]> {
  const { actor } = ctx;
  if (actor.type !== 'user') throw forbidden('Only a signed-in user has teams');
  return listEnvironments(ctx.db, { teamIds: actor.isSuperAdmin ? null : [...actor.roles.keys()] });
}

export const costSummary = query({
  ...rights,
  name: 'analytics.costSummary',
  summary: 'What an environment moved and what it costs, beside the period before',
  input: AnalyticsInput,
  output: CostSummary,
  async run(ctx, { environmentId, range }) {
    const period = currentPeriod(ctx, range);
    const { pricePerGb } = await environmentOf(ctx, environmentId);
    const sumOf = async (from: number, to: number) => {
      const sums = await sumByEnvironment(ctx.db, [environmentId], { unit: period.unit, from, to });
      return volumeOf(sums.get(environmentId) ?? NO_AMOUNTS, pricePerGb);
    };
    const previous = await sumOf(period.previousFrom, period.from);
    return {
      environmentId,
      ...shown(period),
      pricePerGb,
      ...(await sumOf(period.from, period.to)),
      previous,
    };
  },
});

async function pipelinesOf(ctx: Context, { environmentId, range }: AnalyticsInput, limit: number) {
  const period = currentPeriod(ctx, range);
  const { pricePerGb } = await environmentOf(ctx, environmentId);
  const { total, pipelines } = await sumByPipeline(ctx.db, environmentId, period, limit);
  return {
    period,
    total,
    pipelines: pipelines.map(({ pipelineId, name, ...amounts }) => ({
      ...{ pipelineId, name },
      ...volumeOf(amounts, pricePerGb),
    })),
  };
}

export const costByPipeline = query({
  ...rights,
  name: 'analytics.costByPipeline',
  summary: 'What each pipeline of an environment moved and what it costs',
  input: AnalyticsInput,
  output: CostByPipeline,
  async run(ctx, input) {
    const { period, total, pipelines } = await pipelinesOf(ctx, input, MAX_COST_PIPELINES);
    return { ...shown(period), pipelines, total };
  },
});

export const topPipelines = query({
  ...rights,
  name: 'analytics.topPipelines',
  summary: 'The five pipelines of an environment that moved the most bytes',
  input: AnalyticsInput,
  output: TopPipelines,
  async run(ctx, input) {
    const { period, pipelines } = await pipelinesOf(ctx, input, TOP_PIPELINES);
    return { ...shown(period), pipelines };
  },
});

async function environmentsWithVolumes(ctx: Context, { range }: AnalyticsInput) {
  const period = currentPeriod(ctx, range);
  const environments = await visibleEnvironments(ctx);
  const ids = environments.map((environment) => environment.environmentId);
  const sums = await sumByEnvironment(ctx.db, ids, period);
  return {
    period,
    environments: environments.map((environment) => ({
      ...environment,
      ...volumeOf(sums.get(environment.environmentId) ?? NO_AMOUNTS, environment.pricePerGb),
    })),
  };
}

export const costByTeam = query({
  ...rights,
  name: 'analytics.costByTeam',
  summary: 'What each of your teams moved and what it costs; a super admin sees all teams',
  input: AnalyticsInput,
  output: CostByTeam,
  async run(ctx, input) {
    const { period, environments } = await environmentsWithVolumes(ctx, input);
    const byTeam = Map.groupBy(environments, ({ teamId }) => teamId);
    const teams = [...byTeam].map(([teamId, own]) => ({
      ...{ teamId, name: own[0]?.teamName ?? '', environments: own.length },
      ...sumVolumes(own),
    }));
    return { ...shown(period), teams: teams.sort(byBytes) };
  },
});

export const costByEnvironment = query({
  ...rights,
  name: 'analytics.costByEnvironment',
  summary: 'What each environment that you can see moved and what it costs',
  input: AnalyticsInput,
  output: CostByEnvironment,
  async run(ctx, input) {
    const { period, environments } = await environmentsWithVolumes(ctx, input);
    return { ...shown(period), environments: environments.sort(byBytes) };
  },
});

const byBytes = (a: Pick<Amounts, 'bytesIn' | 'bytesOut'>, b: Pick<Amounts, 'bytesIn' | 'bytesOut'>) =>
  b.bytesIn + b.bytesOut - a.bytesIn - a.bytesOut;

export const costBySink = query({
  ...rights,
  name: 'analytics.costBySink',
  summary: 'What each sink of an environment sent and what it costs, in whole hours',
  input: AnalyticsInput,
  output: CostBySink,
  async run(ctx, { environmentId, range }) {
    const period = currentPeriod(ctx, range);
    const hourly = { ...period, from: Math.floor(period.from / HOUR_MS) * HOUR_MS };
    const { pricePerGb } = await environmentOf(ctx, environmentId);
    const { total, sinks } = await sumBySink(ctx.db, environmentId, hourly, MAX_COST_SINKS);
    return {
      ...shown(hourly),
      sinks: sinks.map((sink) => ({ ...sink, cost: costOf(sink.bytesOut, pricePerGb) })),
      total,
    };
  },
});

export const costTimeSeries = query({
  ...rights,
  name: 'analytics.costTimeSeries',
  summary: 'What an environment moved over time: all together, by pipeline, or what your teams moved',
  input: CostTimeSeriesInput,
  output: CostTimeSeries,
  async run(ctx, { environmentId, range, groupBy }) {
    const period = currentPeriod(ctx, range);
    const ofTeams = groupBy === 'team';
    const environments = ofTeams ? await visibleEnvironments(ctx) : [await environmentOf(ctx, environmentId)];
    const byId = new Map(environments.map((environment) => [environment.environmentId, environment]));
    const by = groupBy === 'pipeline' ? 'pipeline' : 'environment';
    const amounts = await sumBySteps(ctx.db, [...byId.keys()], period, by);
    const hasPrice = environments.some(({ pricePerGb }) => pricePerGb !== null);
    const series = createSeries(period.steps, hasPrice);
    for (const { id, environmentId: of, step, bytesIn, bytesOut } of amounts) {
      const environment = byId.get(of);
      const key = ofTeams ? (environment?.teamId ?? '') : groupBy === 'pipeline' ? id : '';
      series.add(key, step, {
        bytesIn,
        bytesOut,
        cost: costOf(bytesOut, environment?.pricePerGb ?? null) ?? 0,
      });
    }
    const names = ofTeams
      ? new Map(environments.map(({ teamId, teamName }) => [teamId, teamName]))
      : await pipelineNames(ctx.db, series.ids());
    return { ...shown(period), stepSeconds: period.stepSeconds, series: series.largest(names) };
  },
});

interface Series {
  id: string;
  bytesIn: number[];
  bytesOut: number[];
  cost: number[];
}

function createSeries(steps: number, hasPrice: boolean) {
  const byId = new Map<string, Series>();
  const zeros = () => new Array<number>(steps).fill(0);
  const newSeries = (id: string): Series => ({ id, bytesIn: zeros(), bytesOut: zeros(), cost: zeros() });
  const bytesOf = ({ bytesIn, bytesOut }: Series) => sum(bytesIn) + sum(bytesOut);
  const addTo = (series: Series, step: number, more: { bytesIn: number; bytesOut: number; cost: number }) => {
    for (const name of ['bytesIn', 'bytesOut', 'cost'] as const)
      series[name][step] = (series[name][step] ?? 0) + more[name];
  };
  return {
    ids: () => [...byId.keys()],
    add(id: string, step: number, more: { bytesIn: number; bytesOut: number; cost: number }): void {
      const series = byId.get(id) ?? newSeries(id);
      byId.set(id, series);
      if (step >= 0 && step < steps) addTo(series, step, more);
    },
    /** Those with the most bytes, and the sum of the others. */
    largest(names: ReadonlyMap<string, string>) {
      const sorted = [...byId.values()].sort((a, b) => bytesOf(b) - bytesOf(a));
      const rest = sorted.splice(MAX_COST_SERIES);
      if (rest.length > 0) {
        const others = newSeries('');
        for (const { bytesIn, bytesOut, cost } of rest)
          for (let step = 0; step < steps; step += 1)
            addTo(others, step, {
              ...{ bytesIn: bytesIn[step] ?? 0, bytesOut: bytesOut[step] ?? 0, cost: cost[step] ?? 0 },
            });
        sorted.push(others);
      }
      return sorted.map(({ id, bytesIn, bytesOut, cost }) => ({
        ...{ id, name: names.get(id) ?? null, bytesIn, bytesOut },
        cost: hasPrice ? cost : null,
      }));
    },
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export const costCsv = query({
  ...rights,
  name: 'analytics.costCsv',
  summary: 'What each pipeline of an environment moved and what it costs, as a file for a spreadsheet',
  input: AnalyticsInput,
  output: CostCsv,
  async run(ctx, input) {
    const { name, teamName } = await environmentOf(ctx, input.environmentId);
    const { period, pipelines } = await pipelinesOf(ctx, input, Number.MAX_SAFE_INTEGER);
    const { from, to } = shown(period);
    const lines = pipelines.map((pipeline) =>
      csvRow([
        ...[from.toISOString(), to.toISOString(), teamName, name, pipeline.pipelineId, pipeline.name],
        ...[pipeline.eventsIn, pipeline.eventsOut, pipeline.bytesIn, pipeline.bytesOut, pipeline.bytesSaved],
        ...[pipeline.reductionPercent, pipeline.cost, pipeline.costSaved],
      ]),
    );
    const file = `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-${input.range}-${to.toISOString().slice(0, 10)}.csv`;
    return { filename: file, csv: [csvRow(CSV_COLUMNS), ...lines].join('') };
  },
});

const CSV_COLUMNS = [
  ...['from', 'to', 'team', 'environment', 'pipelineId', 'pipeline'],
  ...['eventsIn', 'eventsOut', 'bytesIn', 'bytesOut', 'bytesSaved', 'reductionPercent', 'cost', 'costSaved'],
];
