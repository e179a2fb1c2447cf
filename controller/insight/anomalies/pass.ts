/**
 * Compares what each deployed pipeline does now with what it usually does. Reads and writes in batches: the number of statements
 * follows the number of batches. Baselines are made once an hour and live in the memory of the leader.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnomalyMetric } from '../../../schemas/api/insight/anomalies.ts';
import type { MetricsSeries } from '../../../schemas/api/insight/metrics.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { PublishedSignal } from '../../platform/runtime/bus.ts';
import { endUnseen, type FoundAnomaly, saveFound } from './anomalies-store.ts';
import { type AnomalyConfig, metricsOf } from './config.ts';
import { readAnomalyConfig } from './config-store.ts';
import { type Baseline, baselineOf, HOUR_MS } from './detection/baseline.ts';
import { AROUND_MS, isCommon, MAX_DAYS } from './detection/common-values.ts';
import { withoutGrace } from './detection/deploy-grace.ts';
import { evaluate, SHORT_TERM_STEPS, STEP_SECONDS } from './detection/evaluate.ts';
import { type ComparedPipeline, listCompared, listDeployTimes, readHours } from './history-queries.ts';

export interface AnomalyPass {
  run(ctx: Context): Promise<PassResult>;
}

export interface PassResult {
  pipelines: number;
  found: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
const STEP_MS = STEP_SECONDS * 1_000;
/** Minutes are written until so long after their end: a younger one may lack nodes. */
const SETTLE_MS = 3 * MINUTE_MS;
const PIPELINES_PER_BATCH = 200;
/** Values by the hour that one statement reads: its answer is parsed at one go. */
const HOURS_PER_READ = 25_000;
/** Pipelines of which one statement reads the same time of a past day. */
const PIPELINES_PER_DAY_READ = 50;
/** A pipeline that no node has reported for longer has no nodes. */
const REPORTED_MS = DAY_MS;
/** An anomaly that was not seen for longer has ended: the last pass and the one before did not find it. */
const UNSEEN_MS = 8 * MINUTE_MS;
/** Between two turns of the event loop. */
const EVALUATED_PER_TURN = 20;

type Baselines = Partial<Record<AnomalyMetric, Baseline | null>>;
interface KnownBaselines {
  /** What they were made of: another text, and they are made again. */
  of: string;
  baselines: Baselines;
}

export function createAnomalyPass(): AnomalyPass {
  let known = new Map<string, KnownBaselines>();
  return {
    async run(ctx) {
      const config = await readAnomalyConfig(ctx.db);
      const metrics = metricsOf(config);
      const pass: Pass = {
        ...{ ctx, config, metrics, known, made: new Map() },
        at: Math.floor((ctx.clock.now() - SETTLE_MS) / MINUTE_MS) * MINUTE_MS,
      };
      let [pipelines, found, after] = [0, 0, ''];
      while (metrics.length > 0 && !ctx.signal.aborted) {
        const batch = await listCompared(ctx.db, {
          ...{ after, limit: PIPELINES_PER_BATCH },
          reportedSince: new Date(ctx.clock.now() - REPORTED_MS),
        });
        const anomalies = await findAnomalies(pass, batch);
        await save(pass, anomalies);
        pipelines += batch.length;
        found += anomalies.length;
        after = batch.at(-1)?.pipelineId ?? '';
        if (batch.length < PIPELINES_PER_BATCH) break;
      }
      known = pass.made;
      await endOld(ctx);
      if (found > 0) ctx.log.debug({ pipelines, found }, 'metrics are unusual');
      return { pipelines, found };
    },
  };
}

interface Pass {
  ctx: Context;
  config: AnomalyConfig;
  metrics: readonly AnomalyMetric[];
  /** Milliseconds since 1970 up to which values are read. */
  at: number;
  /** Of the pass before, by pipeline. */
  known: ReadonlyMap<string, KnownBaselines>;
  made: Map<string, KnownBaselines>;
}

async function findAnomalies(pass: Pass, batch: readonly ComparedPipeline[]): Promise<FoundAnomaly[]> {
  const { ctx, config, at } = pass;
  const compared = batch.filter(({ nodes, nodesInMaintenance }) => nodesInMaintenance < nodes);
  if (compared.length === 0) return [];
  const ids = compared.map(({ pipelineId }) => pipelineId);
  const since = new Date(at - Math.max(config.baselineWindowDays, MAX_DAYS + 1) * DAY_MS);
  const deploys = await listDeployTimes(ctx.db, ids, since);
  await makeBaselines(pass, compared, deploys);
  const from = at - SHORT_TERM_STEPS * STEP_MS;
  const series = await readSteps(pass, ids, from, SHORT_TERM_STEPS);
  const candidates: FoundAnomaly[] = [];
  for (const [index, pipeline] of compared.entries()) {
    if (index % EVALUATED_PER_TURN === 0) await nextTurn();
    const { pipelineId, environmentId, deploy, nodesInMaintenance } = pipeline;
    const own = series.get(pipelineId);
    const { baselines = {} } = pass.made.get(pipelineId) ?? {};
    for (const metric of pass.metrics) {
      const baseline = baselines[metric];
      if (!own || !baseline) continue;
      const steps = withoutGrace(valuesOf(own, metric), from, STEP_MS, deploys.get(pipelineId) ?? []);
      const deviation = evaluate(metric, baseline, steps, at, {
        ...config,
        ignoresDrops: nodesInMaintenance > 0,
      });
      if (deviation) candidates.push({ ...deviation, environmentId, pipelineId, deploy });
    }
  }
  return withoutCommon(pass, candidates, deploys);
}

/** Makes those that are not known for this hour, these settings and this deploy. */
async function makeBaselines(
  pass: Pass,
  pipelines: readonly ComparedPipeline[],
  deploys: ReadonlyMap<string, readonly number[]>,
): Promise<void> {
  const { ctx, config, metrics, at, known, made } = pass;
  const hours = config.baselineWindowDays * 24;
  const end = Math.floor(at / HOUR_MS) * HOUR_MS;
  const from = end - hours * HOUR_MS;
  const sourceOf = ({ deploy }: ComparedPipeline) => `${end} ${hours} ${metrics} ${deploy?.at.getTime()}`;
  const missing = pipelines.filter((pipeline) => {
    const before = known.get(pipeline.pipelineId);
    const isKnown = before?.of === sourceOf(pipeline);
    if (before && isKnown) made.set(pipeline.pipelineId, before);
    return !isKnown;
  });
  const perRead = Math.max(1, Math.floor(HOURS_PER_READ / hours));
  for (let first = 0; first < missing.length; first += perRead) {
    const some = missing.slice(first, first + perRead);
    const ids = some.map(({ pipelineId }) => pipelineId);
    const values = await readHours(ctx.db, ids, { from, hours });
    for (const pipeline of some) {
      const { pipelineId, deploy } = pipeline;
      const own = values.get(pipelineId);
      const baselines: Baselines = {};
      for (const metric of own ? metrics : []) {
        const usable = withoutGrace(own?.[metric] ?? [], from, HOUR_MS, deploys.get(pipelineId) ?? []);
        baselines[metric] = baselineOf(usable, end, deploy?.at.getTime() ?? null);
        // The baseline of 90 days takes some milliseconds.
        await nextTurn();
      }
      made.set(pipelineId, { of: sourceOf(pipeline), baselines });
    }
  }
}

/** Without values that are common at this time of the day. */
async function withoutCommon(
  pass: Pass,
  candidates: readonly FoundAnomaly[],
  deploys: ReadonlyMap<string, readonly number[]>,
): Promise<FoundAnomaly[]> {
  const { config, at } = pass;
  const days = Math.min(MAX_DAYS, config.baselineWindowDays);
  const steps = (2 * AROUND_MS) / STEP_MS + 1;
  const rest: FoundAnomaly[] = [];
  const byPipeline = [...Map.groupBy(candidates, ({ pipelineId }) => pipelineId)];
  for (let first = 0; first < byPipeline.length; first += PIPELINES_PER_DAY_READ) {
    const some = byPipeline.slice(first, first + PIPELINES_PER_DAY_READ);
    const ids = some.map(([pipelineId]) => pipelineId);
    const past: { from: number; series: Map<string, MetricsSeries> }[] = [];
    for (let day = 1; day <= days; day += 1) {
      const from = at - STEP_MS - day * DAY_MS - AROUND_MS;
      past.push({ from, series: await readSteps(pass, ids, from, steps) });
    }
    for (const [pipelineId, own] of some)
      for (const candidate of own) {
        const before = past.map(({ from, series }) => {
          const values = valuesOf(series.get(pipelineId), candidate.metric);
          return withoutGrace(values, from, STEP_MS, deploys.get(pipelineId) ?? []);
        });
        if (!isCommon(before, candidate.value, candidate.direction)) rest.push(candidate);
      }
  }
  return rest;
}

async function readSteps(
  { ctx }: Pass,
  pipelineIds: readonly string[],
  from: number,
  steps: number,
): Promise<Map<string, MetricsSeries>> {
  const window = { from, to: from + steps * STEP_MS, stepSeconds: STEP_SECONDS, steps };
  const source = { of: 'pipelines', pipelineIds } as const;
  const series = await ctx.services.minutes.readSeries(ctx.db, source, { window, extremes: false });
  return new Map(series.map((one) => [one.id, one]));
}

function valuesOf(series: MetricsSeries | undefined, metric: AnomalyMetric): readonly (number | null)[] {
  if (!series) return [];
  return metric === 'latency' ? series.latencyMs : series.mean[metric];
}

async function save({ ctx, config }: Pass, found: readonly FoundAnomaly[]): Promise<void> {
  if (found.length === 0) return;
  const now = new Date(ctx.clock.now());
  const since = new Date(now.getTime() - config.dedupWindowHours * HOUR_MS);
  await write(ctx, (inside) => saveFound(inside.db, found, { now, since }));
}

const endOld = (ctx: Context): Promise<void> =>
  write(ctx, (inside) => endUnseen(inside.db, new Date(ctx.clock.now() - UNSEEN_MS)));

/** `work` answers the environments whose pages are out of date. */
async function write(ctx: Context, work: (inside: Context) => Promise<string[]>): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const environmentIds = new Set(await work({ ...ctx, db: tx }));
    const signals = [...environmentIds].map((environmentId): PublishedSignal => {
      return { type: 'ui', environmentId, topics: ['anomalies'] };
    });
    if (signals.length > 0) await ctx.services.bus.publish(tx, signals);
  });
}
