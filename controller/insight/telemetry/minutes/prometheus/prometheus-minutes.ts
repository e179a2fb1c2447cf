/**
 * Points of minutes in a store that takes Prometheus remote write and answers PromQL. They are sent once the readings they
 * were made of are stored in Postgres: what is lost on the way is missing in charts, and in no sum of hours.
 */

import type { Clock } from '../../../../../reconcilers/loops/clock.ts';
import type {
  MetricsSeries,
  RateValues,
  StepValues,
  Totals,
} from '../../../../../schemas/api/insight/metrics.ts';
import type { Logger } from '../../../../platform/runtime/logger.ts';
import { MAX_MARKS } from '../../series/marks-queries.ts';
import type { HostSeries } from '../../series/node-queries.ts';
import type { Window } from '../../series/window.ts';
import type { MinuteSource, MinuteStore, SeriesOptions } from '../minute-store.ts';
import { readPrometheusBreaches } from './breaches.ts';
import {
  hostQuery,
  increaseQuery,
  largestQuery,
  latencyQuery,
  rateQuery,
  selectionOf,
  utilizationQuery,
} from './promql.ts';
import { createQueryClient, type RangeSeries } from './query-client.ts';
import { encodeWriteRequest } from './remote-write.ts';
import { EXITS, HOST_MEASURES, MEASURES, samplesOf } from './samples.ts';
import { createWriteQueue, type WriteQueueOptions } from './write-queue.ts';

export interface PrometheusMinutesOptions extends Pick<WriteQueueOptions, 'maxBytes' | 'timeoutMs'> {
  /** Of remote write, whole. */
  writeUrl: string;
  /** Before `/api/v1/query_range`. */
  readUrl: string;
  /** Of both; null for none. */
  authorization: string | null;
  /** A header of both that names the tenant; null for none. */
  tenant: { name: string; value: string } | null;
  clock: Clock;
  log: Logger;
}

/** A request holds at most this many samples. */
const SAMPLES_PER_REQUEST = 5_000;
const NAMES = ['eventsIn', 'eventsOut', 'bytesIn', 'bytesOut', 'errors', 'discarded'] as const;

export function createPrometheusMinutes(options: PrometheusMinutesOptions): MinuteStore {
  const { writeUrl, readUrl, authorization, tenant, clock, log, ...limits } = options;
  const headers: Record<string, string> = {
    'User-Agent': 'headgate',
    ...(authorization ? { Authorization: authorization } : {}),
    ...(tenant ? { [tenant.name]: tenant.value } : {}),
  };
  const queue = createWriteQueue({ ...limits, url: writeUrl, headers, clock, log });
  const client = createQueryClient({ url: readUrl, headers, log });

  async function readSeries(
    source: MinuteSource,
    { window, extremes }: SeriesOptions,
  ): Promise<MetricsSeries[]> {
    const selection = selectionOf(source);
    const { stepSeconds } = window;
    const ask = (query: string) => client.range(query, window);
    const [mean, sums, latency, utilization, low, high] = await Promise.all([
      ask(rateQuery(selection, stepSeconds)),
      ask(increaseQuery(selection, stepSeconds)),
      ask(latencyQuery(selection, stepSeconds)),
      ask(utilizationQuery(selection, stepSeconds)),
      ...(extremes
        ? (['min', 'max'] as const).map((how) => ask(rateQuery(selection, stepSeconds, how)))
        : []),
    ]);
    const keyOf = (labels: Record<string, string>) =>
      selection.by.map((label) => labels[label] ?? '').join('\0');
    const byKey = (found: readonly RangeSeries[] = []) => Map.groupBy(found, ({ labels }) => keyOf(labels));
    const [means, lows, highs, totals] = [byKey(mean), byKey(low), byKey(high), byKey(sums)];
    const [latencies, utilizations] = [byKey(latency), byKey(utilization)];
    const gaps = (): StepValues => new Array(window.steps).fill(null);
    const ratesOf = (found: readonly RangeSeries[] = []): RateValues => {
      const byMeasure = new Map(found.map(({ labels, values }) => [labels.measure, values.map(rounded)]));
      return Object.fromEntries(
        NAMES.map((name, index) => [name, byMeasure.get(MEASURES[index]) ?? gaps()]),
      ) as RateValues;
    };
    return [...totals].map(([key, own]) => {
      const [id = '', kind] = key.split('\0');
      const summed = new Map(own.map(({ labels, values }) => [labels.measure, sumOf(values)]));
      return {
        ...{ id, name: null },
        ...(kind === undefined ? {} : { kind }),
        mean: ratesOf(means.get(key)),
        ...(extremes ? { min: ratesOf(lows.get(key)), max: ratesOf(highs.get(key)) } : {}),
        latencyMs: latencies.get(key)?.[0]?.values.map(rounded) ?? gaps(),
        utilization: utilizations.get(key)?.[0]?.values.map(rounded) ?? gaps(),
        totals: {
          ...(Object.fromEntries(
            NAMES.map((name, index) => [name, rounded(summed.get(MEASURES[index]) ?? 0) ?? 0]),
          ) as Totals),
          exits: Math.round(summed.get(EXITS) ?? 0),
        },
      };
    });
  }

  return {
    isInPostgres: false,
    async write() {},
    async prepare() {
      return false;
    },
    committed(grown, nodes) {
      const samples = samplesOf(grown, nodes);
      for (let first = 0; first < samples.length; first += SAMPLES_PER_REQUEST) {
        const part = samples.slice(first, first + SAMPLES_PER_REQUEST);
        queue.push(encodeWriteRequest(part), part.length);
      }
    },
    readSeries: (_db, source, wanted) => readSeries(source, wanted),
    async largestSeries(_db, source, { from, to }, limit) {
      const selection = selectionOf(source);
      const seconds = (to - from) / 1_000;
      const [[counted], largest] = await Promise.all([
        client.at(largestQuery(selection, seconds, null), to),
        client.at(largestQuery(selection, seconds, limit), to),
      ]);
      const [label = ''] = selection.by;
      const ids = largest.sort((a, b) => b.value - a.value).map(({ labels }) => labels[label] ?? '');
      return { ids, total: counted?.value ?? 0 };
    },
    async readExits(_db, pipelineId, window) {
      const query = increaseQuery(selectionOf({ of: 'pipeline', pipelineId }), window.stepSeconds, [EXITS]);
      const [found] = await client.range(query, window);
      return (found?.values ?? [])
        .flatMap((exits, step) =>
          exits
            ? [{ at: new Date(window.from + step * window.stepSeconds * 1_000), exits: Math.round(exits) }]
            : [],
        )
        .slice(-MAX_MARKS);
    },
    readHost: (_db, nodeId, window) => readHost(nodeId, window),
    readBreaches: (_db, query) => readPrometheusBreaches(client, query),
    sizes: queue.sizes,
    stop: queue.stop,
  };

  async function readHost(nodeId: string, window: Window): Promise<HostSeries> {
    const [means, highest] = await Promise.all(
      (['avg', 'max'] as const).map((how) =>
        client.range(hostQuery(nodeId, window.stepSeconds, how), window),
      ),
    );
    const of = (found: readonly RangeSeries[] | undefined, name: keyof typeof HOST_MEASURES): StepValues =>
      found?.find(({ labels }) => labels.measure === HOST_MEASURES[name])?.values.map(rounded) ??
      new Array(window.steps).fill(null);
    return {
      cpuPercent: of(means, 'cpuPercent'),
      cpuPercentMax: of(highest, 'cpuPercent'),
      memoryUsedBytes: of(means, 'memoryUsedBytes'),
      memoryTotalBytes: of(highest, 'memoryTotalBytes'),
      loadAvg1: of(means, 'loadAvg1'),
      fsUsedBytes: of(means, 'fsUsedBytes'),
      fsTotalBytes: of(highest, 'fsTotalBytes'),
      diskReadRate: of(means, 'diskReadRate'),
      diskWrittenRate: of(means, 'diskWrittenRate'),
      netRxRate: of(means, 'netRxRate'),
      netTxRate: of(means, 'netTxRate'),
    };
  }
}

const sumOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

/** Four digits after the point: more would only make answers longer. */
const rounded = (value: number | null): number | null =>
  value === null ? null : Math.round(value * 10_000) / 10_000;
