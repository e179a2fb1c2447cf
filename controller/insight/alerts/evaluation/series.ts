/** The series that a rule looks at: a value for each node, pipeline, or pipeline on a node. Pure. */
import type { LabelMap } from '../../../../schemas/api/common.ts';
import type { AlertMetric } from '../../../../schemas/manifests/alert-rule.ts';
import type { Cells, NodeCells } from '../../../fleet/status/index.ts';
import type { Counter } from './counter-windows.ts';
import type { Value } from './step.ts';

export interface Subject {
  node: { id: string; name: string; labels: LabelMap; maintenance: boolean } | null;
  pipeline: { id: string; name: string } | null;
}

/** The same for the same node and pipeline of a rule. */
export const subjectKey = ({ node, pipeline }: Subject): string =>
  [node && `node:${node.id}`, pipeline && `pipeline:${pipeline.id}`]
    .filter((part) => part !== null)
    .join(' ');

export interface Series {
  subject: Subject;
  value: Value;
  /** It is too early to end anything by this value. */
  isEarly?: boolean;
}

export interface Observation {
  cells: Cells;
  /** Growth per second; null where it is not known. */
  rateOnNode(pipelineId: string, nodeId: string, counter: Counter): number | null;
  /** Whether rates have been followed for long enough that a missing one means that there is none. */
  ratesSettled: boolean;
  /** Whether all growth within the last minute is known. */
  windowsFull: boolean;
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

const nodeOf = ({ node, labels }: NodeCells) => ({
  ...{ id: node.id, name: node.name, labels, maintenance: node.maintenance },
});
const isSilent = ({ health }: Pick<NodeCells, 'health'>) => health === 'UNREACHABLE' || health === 'UNKNOWN';

/** The index of the rule's pipeline; -1 where it is gone, null where all are watched. */
const watchedIndex = ({ pipelineId }: WatchedBy, { cells }: Observation): number | null =>
  pipelineId === null ? null : cells.pipelines.findIndex(({ id }) => id === pipelineId);

function* nodeSeries(rule: WatchedBy, observation: Observation): Generator<Series> {
  const { metric } = rule;
  const watched = watchedIndex(rule, observation);
  for (const status of observation.cells.nodes) {
    // A node that was never heard has nothing to be missed.
    if (status.node.heardAt === null) continue;
    if (watched !== null && !status.cells.some((cell) => cell.desired && cell.pipelineIndex === watched))
      continue;
    yield {
      subject: { node: nodeOf(status), pipeline: null },
      value:
        metric === 'node_unreachable'
          ? reachability(status, observation.listeningSince)
          : usage(metric, status),
    };
  }
}

/** After its start a controller waits for the heartbeats of a while before it calls a node silent. */
function reachability({ node, health }: NodeCells, listeningSince: number): Value {
  if (health === 'UNREACHABLE') return 1;
  return (node.heardAt?.getTime() ?? 0) >= listeningSince ? 0 : 'unknown';
}

/** What a node reported before a restart or an outage of the controller says nothing of the time since. */
function usage(metric: AlertMetric, status: NodeCells): Value {
  if (isSilent(status)) return null;
  if (status.overdue) return 'unknown';
  const host = status.node.hostMetrics;
  const percent = (used: number | undefined, total: number | undefined) =>
    used !== undefined && total !== undefined && total > 0 ? (100 * used) / total : null;
  if (metric === 'cpu_usage') return host.cpuPercent ?? null;
  if (metric === 'memory_usage') return percent(host.memoryUsedBytes, host.memoryTotalBytes);
  return percent(host.fsUsedBytes, host.fsTotalBytes);
}

function* crashSeries(rule: WatchedBy, observation: Observation): Generator<Series> {
  const watched = watchedIndex(rule, observation);
  const pipelines = observation.cells.pipelines.map(({ id, name }) => ({ id, name }));
  for (const status of observation.cells.nodes) {
    const silent = isSilent(status);
    const node = nodeOf(status);
    for (const cell of status.cells) {
      const pipeline = pipelines[cell.pipelineIndex];
      if (!pipeline || (watched !== null && cell.pipelineIndex !== watched)) continue;
      const value = silent
        ? null
        : status.overdue
          ? 'unknown'
          : hasCrashed(cell.status, observation.rateOnNode(pipeline.id, node.id, 'restarts'));
      yield { subject: { node, pipeline }, value, isEarly: value === 0 && !observation.windowsFull };
    }
  }
}

/** An engine that is started again and again is rarely seen while it is down. */
const hasCrashed = (status: string | undefined, restarts: number | null): number =>
  status === 'CRASHED' || (restarts ?? 0) > 0 ? 1 : 0;

function* rateSeries(rule: WatchedBy, observation: Observation): Generator<Series> {
  const watched = watchedIndex(rule, observation);
  const { pipelines, nodes } = observation.cells;
  const counter = rule.metric === 'error_rate' ? 'errors' : 'discarded';
  const sums = new Array<number | null>(pipelines.length).fill(null);
  /** Indexes of pipelines whose sum lacks a node. */
  const partial = new Set<number>();
  for (const status of nodes) {
    if (isSilent(status)) continue;
    for (const { pipelineIndex: index } of status.cells) {
      const pipeline = pipelines[index];
      if (!pipeline || (watched !== null && index !== watched)) continue;
      const rate = observation.rateOnNode(pipeline.id, status.node.id, counter);
      if (rate !== null) sums[index] = (sums[index] ?? 0) + rate;
      else if (!observation.ratesSettled) partial.add(index);
    }
  }
  const missing = observation.ratesSettled ? null : 'unknown';
  for (const [index, { id, name, isDraft }] of pipelines.entries()) {
    if (isDraft || (watched !== null && index !== watched)) continue;
    const value = partial.has(index) ? 'unknown' : (sums[index] ?? missing);
    yield { subject: { node: null, pipeline: { id, name } }, value };
  }
}
