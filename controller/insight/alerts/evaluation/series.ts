/** The series that a rule looks at: a value for each node, pipeline, or pipeline on a node. Pure. */
import type { LabelMap } from '../../../../schemas/api/common.ts';
import type { AlertMetric } from '../../../../schemas/manifests/alert-rule.ts';
import type { Joined, NodeStatus } from '../../../fleet/status/index.ts';
import type { Counter } from './counter-windows.ts';
import type { Value } from './step.ts';

export interface Subject {
  /** The same for the same node and pipeline of a rule. */
  key: string;
  node: { id: string; name: string; labels: LabelMap; maintenance: boolean } | null;
  pipeline: { id: string; name: string } | null;
}

export interface Series {
  subject: Subject;
  value: Value;
}

export interface Observation {
  joined: Joined;
  /** Growth per second; null where it is not known. */
  rateOnNode(pipelineId: string, nodeId: string, counter: Counter): number | null;
  /** Whether rates have been followed for long enough that a missing one means that there is none. */
  ratesSettled: boolean;
  /** From when this controller has heard all heartbeats, in milliseconds since 1970. */
  listeningSince: number;
}

export interface WatchedBy {
  metric: AlertMetric;
  /** Null watches the whole environment. */
  pipelineId: string | null;
}

/** Metrics that need counters, which are read only where a rule asks for them. */
export const needsCounters = ({ metric }: WatchedBy): boolean =>
  metric === 'error_rate' || metric === 'discarded_rate' || metric === 'pipeline_crashed';

export function* seriesOf(rule: WatchedBy, observation: Observation): Generator<Series> {
  if (rule.metric === 'pipeline_crashed') yield* crashSeries(rule, observation);
  else if (rule.metric === 'error_rate' || rule.metric === 'discarded_rate')
    yield* rateSeries(rule, observation);
  else yield* nodeSeries(rule, observation);
}

const nodeOf = ({ node, labels }: NodeStatus) => ({
  ...{ id: node.id, name: node.name, labels, maintenance: node.maintenance },
});
const isSilent = ({ health }: Pick<NodeStatus, 'health'>) => health === 'UNREACHABLE' || health === 'UNKNOWN';

function* nodeSeries({ metric, pipelineId }: WatchedBy, observation: Observation): Generator<Series> {
  for (const status of observation.joined.nodes) {
    // A node that was never heard has nothing to be missed.
    if (status.node.heardAt === null) continue;
    if (pipelineId !== null && !status.pairs.some((pair) => pair.desired && pair.pipeline.id === pipelineId))
      continue;
    yield {
      subject: { key: `node:${status.node.id}`, node: nodeOf(status), pipeline: null },
      value:
        metric === 'node_unreachable'
          ? reachability(status, observation.listeningSince)
          : usage(metric, status),
    };
  }
}

/** After its start a controller waits for the heartbeats of a while before it calls a node silent. */
function reachability({ node, health }: NodeStatus, listeningSince: number): Value {
  if (health === 'UNREACHABLE') return 1;
  return (node.heardAt?.getTime() ?? 0) >= listeningSince ? 0 : 'unknown';
}

function usage(metric: AlertMetric, status: NodeStatus): Value {
  if (isSilent(status)) return null;
  const host = status.node.hostMetrics;
  const percent = (used: number | undefined, total: number | undefined) =>
    used !== undefined && total !== undefined && total > 0 ? (100 * used) / total : null;
  if (metric === 'cpu_usage') return host.cpuPercent ?? null;
  if (metric === 'memory_usage') return percent(host.memoryUsedBytes, host.memoryTotalBytes);
  return percent(host.fsUsedBytes, host.fsTotalBytes);
}

function* crashSeries({ pipelineId }: WatchedBy, observation: Observation): Generator<Series> {
  for (const status of observation.joined.nodes) {
    const silent = isSilent(status);
    const node = nodeOf(status);
    for (const { pipeline, report } of status.pairs) {
      if (pipelineId !== null && pipeline.id !== pipelineId) continue;
      const { id, name } = pipeline;
      yield {
        subject: { key: `node:${node.id} pipeline:${id}`, node, pipeline: { id, name } },
        value: silent ? null : hasCrashed(report?.status, observation.rateOnNode(id, node.id, 'restarts')),
      };
    }
  }
}

/** An engine that is started again and again is rarely seen while it is down. */
const hasCrashed = (status: string | undefined, restarts: number | null): number =>
  status === 'CRASHED' || (restarts ?? 0) > 0 ? 1 : 0;

function* rateSeries({ metric, pipelineId }: WatchedBy, observation: Observation): Generator<Series> {
  const counter = metric === 'error_rate' ? 'errors' : 'discarded';
  const sums = new Map<string, number>();
  for (const status of observation.joined.nodes) {
    if (isSilent(status)) continue;
    for (const { pipeline } of status.pairs) {
      if (pipelineId !== null && pipeline.id !== pipelineId) continue;
      const rate = observation.rateOnNode(pipeline.id, status.node.id, counter);
      if (rate !== null) sums.set(pipeline.id, (sums.get(pipeline.id) ?? 0) + rate);
    }
  }
  const missing = observation.ratesSettled ? null : 'unknown';
  for (const { pipeline } of observation.joined.pipelines) {
    if (pipeline.isDraft || (pipelineId !== null && pipeline.id !== pipelineId)) continue;
    const { id, name } = pipeline;
    yield {
      subject: { key: `pipeline:${id}`, node: null, pipeline: { id, name } },
      value: sums.get(id) ?? missing,
    };
  }
}
