/** Breaches of minutes in a store that answers PromQL. */
import type { AlertMetric } from '../../../../../schemas/manifests/alert-rule.ts';
import {
  type Breaches,
  type BreachQuery,
  breachesIn,
  MAX_BREACHES,
  SILENT_MINUTES,
} from '../../breaches/breach.ts';
import { MINUTE_MS } from '../../record/growth.ts';
import { oneOf } from './promql.ts';
import type { QueryClient, RangeSeries } from './query-client.ts';

const SIGNS = { gt: '>', lt: '<', eq: '==' } as const;

/** The store leaves minutes out that do not meet the condition, but for silent nodes, whose gaps are looked for here. */
export async function readPrometheusBreaches(client: QueryClient, query: BreachQuery): Promise<Breaches> {
  const { metric, condition, threshold, from, to } = query;
  const window = { from, to, stepSeconds: 60, steps: Math.round((to - from) / MINUTE_MS) };
  const value = valueQuery(query);
  const isSilence = metric === 'node_unreachable';
  const series = await client.range(
    isSilence ? value : `(${value}) ${SIGNS[condition]} ${threshold}`,
    window,
  );
  const [known] = isSilence ? [] : await client.at(`count(${knownQuery(query)})`, to);
  const breaches = series
    .flatMap((one) =>
      isSilence ? gapsIn(one, query) : breachesIn(idsOf(one), query, (found) => found !== null),
    )
    .sort((a, b) => b.from - a.from)
    .slice(0, MAX_BREACHES);
  return { series: isSilence ? series.length : (known?.value ?? 0), breaches };
}

const idsOf = ({ labels, values }: RangeSeries) => ({
  ...{ nodeId: labels.node_id ?? null, pipelineId: labels.pipeline_id ?? null, values },
});

function gapsIn(series: RangeSeries, query: BreachQuery) {
  const first = series.values.findIndex((value) => value !== null);
  const known = { ...idsOf(series), values: series.values.slice(first) };
  const minutes = Math.max(query.minutes, SILENT_MINUTES);
  return breachesIn(
    known,
    { ...query, minutes, from: query.from + first * MINUTE_MS },
    (value) => value === null,
  ).map((breach) => ({ ...breach, peak: 1 }));
}

const host = ({ nodeIds }: BreachQuery, measure: string, seconds = '1m'): string =>
  `avg by (node_id) (avg_over_time(headgate_host{node_id=~${oneOf(nodeIds)},measure="${measure}"}[${seconds}]))`;
const ofPipeline = ({ pipelineIds }: BreachQuery): string => `pipeline_id=~${oneOf(pipelineIds)}`;

function rate(query: BreachQuery, measure: string): string {
  const counted = `sum_over_time(headgate_pipeline_increase{${ofPipeline(query)},measure="${measure}"}[1m])`;
  const seconds = `sum_over_time(headgate_pipeline_seconds{${ofPipeline(query)}}[1m])`;
  return `sum by (pipeline_id) (${counted} / ignoring(measure) group_left() ${seconds})`;
}

const VALUES: Readonly<Record<AlertMetric, (query: BreachQuery) => string>> = {
  cpu_usage: (query) => host(query, 'cpu_percent'),
  memory_usage: (query) => `100 * ${host(query, 'memory_used_bytes')} / ${host(query, 'memory_total_bytes')}`,
  disk_usage: (query) => `100 * ${host(query, 'fs_used_bytes')} / ${host(query, 'fs_total_bytes')}`,
  error_rate: (query) => rate(query, 'errors'),
  discarded_rate: (query) => rate(query, 'discarded'),
  pipeline_crashed: (query) => {
    const matchers = `node_id=~${oneOf(query.nodeIds)},${ofPipeline(query)},measure="exits"`;
    return `clamp_max(sum by (node_id, pipeline_id) (sum_over_time(headgate_pipeline_increase{${matchers}}[1m])), 1)`;
  },
  node_unreachable: (query) => host(query, 'memory_total_bytes'),
};
const valueQuery = (query: BreachQuery): string => VALUES[query.metric](query);

/** Whatever had a value in the window. */
function knownQuery(query: BreachQuery): string {
  const seconds = `${Math.round((query.to - query.from) / 1_000)}s`;
  const { metric, nodeIds } = query;
  if (metric === 'cpu_usage') return host(query, 'cpu_percent', seconds);
  if (metric === 'memory_usage') return host(query, 'memory_total_bytes', seconds);
  if (metric === 'disk_usage') return host(query, 'fs_total_bytes', seconds);
  const isCrash = metric === 'pipeline_crashed';
  const nodes = isCrash ? `node_id=~${oneOf(nodeIds)},` : '';
  const by = isCrash ? 'node_id, pipeline_id' : 'pipeline_id';
  return `count by (${by}) (count_over_time(headgate_pipeline_seconds{${nodes}${ofPipeline(query)}}[${seconds}]))`;
}
