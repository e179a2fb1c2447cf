/**
 * What of a graph decides about its costs: whether events of a sink may be sampled, and which fields become tags of metrics
 * without a limit. Pure. It sees the graph and no event: how many values a field has is not known here.
 */
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { isRecord } from '../../platform/text/is-record.ts';

export interface Drawn {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
}

const METRIC_SINKS = new Set([
  ...['prometheus_exporter', 'prometheus_remote_write', 'statsd', 'influxdb_metrics', 'datadog_metrics'],
  ...['gcp_stackdriver_metrics', 'humio_metrics', 'splunk_hec_metrics', 'aws_cloudwatch_metrics'],
  ...['sematext_metrics', 'greptimedb_metrics'],
]);
const METRIC_SOURCES = new Set([
  ...['host_metrics', 'internal_metrics', 'static_metrics', 'statsd', 'prometheus_scrape'],
  ...['prometheus_remote_write', 'prometheus_pushgateway', 'apache_metrics', 'nginx_metrics'],
  ...['mongodb_metrics', 'postgresql_metrics', 'aws_ecs_metrics', 'eventstoredb_metrics'],
]);
const METRIC_TRANSFORMS = new Set([
  ...['log_to_metric', 'aggregate', 'incremental_to_absolute', 'tag_cardinality_limit'],
]);
/** They may pass on logs and metrics through one output. */
const MIXED_SOURCES = new Set(['vector', 'datadog_agent']);

const idOf = (node: GraphNode) => node.id ?? node.componentKey;

/** Components that feed a component, each with the output. Disabled ones are left out. */
function feeding({ nodes, edges }: Drawn) {
  const byReference = new Map<string, GraphNode>();
  for (const node of nodes) byReference.set(node.componentKey, node);
  for (const node of nodes) byReference.set(idOf(node), node);
  const inputs = Map.groupBy(edges, (edge) => byReference.get(edge.targetNodeId));
  return (node: GraphNode) =>
    (inputs.get(node) ?? []).flatMap(({ sourceNodeId, sourcePort }) => {
      const source = byReference.get(sourceNodeId);
      return source && !source.disabled ? [{ source, port: sourcePort }] : [];
    });
}

/** Visits what leads to a component, each part once. `enter` decides whether to go on upstream of it. */
function walkUpstream(
  drawn: Drawn,
  start: GraphNode,
  enter: (source: GraphNode, port: string | undefined) => boolean,
): void {
  const inputsOf = feeding(drawn);
  const seen = new Set<GraphNode>([start]);
  const waiting = [start];
  for (let node = waiting.pop(); node; node = waiting.pop())
    for (const { source, port } of inputsOf(node)) {
      if (seen.has(source) || !enter(source, port)) continue;
      seen.add(source);
      waiting.push(source);
    }
}

export const findSink = ({ nodes }: Drawn, key: string): GraphNode | undefined =>
  nodes.find((node) => node.kind === 'SINK' && node.componentKey === key && !node.disabled);

/** `sample` takes logs and traces, and no metrics: counters would be wrong. Nor does it help behind another one. */
export function canSample(drawn: Drawn, sink: GraphNode): boolean {
  if (METRIC_SINKS.has(sink.componentType)) return false;
  let [isSafe, isFed] = [true, false];
  walkUpstream(drawn, sink, (source, port) => {
    isFed = true;
    const isMetric =
      METRIC_TRANSFORMS.has(source.componentType) ||
      (source.kind === 'SOURCE' && METRIC_SOURCES.has(source.componentType));
    const isMixed =
      (source.kind === 'SOURCE' && MIXED_SOURCES.has(source.componentType)) ||
      (source.componentType === 'opentelemetry' && port !== 'logs' && port !== 'traces');
    if (isMetric || isMixed || source.componentType === 'sample') isSafe = false;
    return source.componentType !== 'metric_to_log';
  });
  return isSafe && isFed;
}

/** Fields that are known for few values, by the last part of their path. */
const FEW_VALUES = new Set([
  ...['level', 'severity', 'status', 'status_code', 'status_class', 'method', 'protocol', 'scheme', 'stream'],
  ...['env', 'environment', 'stage', 'region', 'zone', 'az', 'datacenter', 'cluster', 'namespace', 'tier'],
  ...['app', 'application', 'service', 'service_name', 'job', 'component', 'team', 'source_type', 'type'],
  ...['kind', 'host', 'hostname', 'node', 'outcome', 'result', 'success', 'version', 'language', 'facility'],
]);
/** The engine's template syntax: `{{ field }}`, `{{ .field }}`. */
const TEMPLATE = /\{\{\s*\.?([^}\s]{1,200})\s*\}\}/g;
const MAX_FIELDS = 20;

export interface UnboundedTags {
  sink: GraphNode;
  fields: string[];
}

/**
 * The first metrics sink to which a `log_to_metric` with tags of fields leads without a `tag_cardinality_limit` between.
 * Fields that are known for few values do not count.
 */
export function findUnboundedTags(drawn: Drawn): UnboundedTags | null {
  for (const sink of drawn.nodes) {
    if (sink.kind !== 'SINK' || sink.disabled || !METRIC_SINKS.has(sink.componentType)) continue;
    const fields = new Set<string>();
    walkUpstream(drawn, sink, (source) => {
      if (source.componentType === 'tag_cardinality_limit') return false;
      if (source.componentType !== 'log_to_metric') return true;
      for (const field of templatedFields(source.config)) fields.add(field);
      return false;
    });
    if (fields.size > 0) return { sink, fields: [...fields].slice(0, MAX_FIELDS) };
  }
  return null;
}

function templatedFields(config: Record<string, unknown>): string[] {
  const metrics = Array.isArray(config.metrics) ? config.metrics.filter(isRecord) : [];
  return metrics
    .flatMap(({ tags, name, namespace }) => {
      const texts = [name, namespace, ...(isRecord(tags) ? Object.entries(tags).flat(2) : [])];
      return texts.flatMap((text) =>
        typeof text === 'string' ? [...text.matchAll(TEMPLATE)].flatMap(([, field]) => field ?? []) : [],
      );
    })
    .filter((field) => !FEW_VALUES.has(lastPart(field)));
}

const lastPart = (path: string): string =>
  (path.split('.').at(-1) ?? '').replaceAll(/["'[\]]/g, '').toLowerCase();
