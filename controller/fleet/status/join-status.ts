/** Joins desired and observed state: a status per node and pipeline, the health of each node, and the gate of each pipeline. */
import type { Condition, Gate, LabelMap } from '../../../schemas/api/common.ts';
import type {
  NodeHealth,
  PipelineOnNode,
  Rates,
  Refusal,
  StatusCounts,
} from '../../../schemas/api/pipelines/on-nodes.ts';
import { effectiveLabels, groupsOf, labelsOf, type NodeLabels } from '../groups/index.ts';
import { classifyNode, createReportLookup, desiredVersion, type JoinTime } from './classify-node.ts';
import { desiredPipelines } from './desired-pipelines.ts';
import { pipelineGate } from './gate/gate.ts';
import { rolloutConditions } from './gate/gate-conditions.ts';
import { type GateInput, type GateNode, silentNodes } from './gate/gate-input.ts';
import { gateRolloutOf } from './gate/gate-rollout.ts';
import { nodeGate } from './gate/gate-sums.ts';
import type { NodeRow, Observed, PipelineRow, ReportRow } from './observed-rows.ts';
import { refusalOf } from './refusal.ts';

/** One pipeline on one node: the desired version and the node's report. */
export interface Pair {
  node: NodeRow;
  health: NodeHealth;
  pipeline: PipelineRow;
  desired: boolean;
  /** The version that it should run; both null if none. */
  version: number | null;
  versionId: string | null;
  report: ReportRow | undefined;
  /** Set if the intended version does not run on the node. */
  refused: Refusal | null;
  gate: GateNode;
}

export interface NodeStatus {
  node: NodeRow;
  /** Effective labels, which selectors match. */
  labels: LabelMap;
  readonly labelSources: NodeLabels['sources'];
  readonly groups: NodeLabels['groups'];
  health: NodeHealth;
  healthReason: string;
  /** Its last report is too old to say anything of now, even where its health is not UNREACHABLE yet. */
  overdue: boolean;
  gate: Gate;
  pairs: readonly Pair[];
  readonly pipelines: PipelineOnNode[];
  desired: number;
  running: number;
  crashed: number;
}

export interface PipelineStatus {
  pipeline: PipelineRow;
  readonly onNodes: PipelineOnNode[];
  counts: StatusCounts;
  /** The version that does not run on some nodes; null if there is none. */
  refused: { version: number; count: number; reason: string } | null;
  rates: Rates;
  gate: Gate;
  /** Names of nodes that should run it and do not respond. */
  silentNodes: readonly string[];
  /** The conditions of the last pass and those derived from node reports. Empty for a pipeline that git does not own. */
  conditions: Condition[];
}

export interface Joined {
  nodes: NodeStatus[];
  pipelines: PipelineStatus[];
}

const NO_RATES: Rates = { eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0, asOf: null };

/** Joins everything of an environment. Fields that lists do not need are getters, computed on access. */
export function join(observed: Observed, time: JoinTime): Joined {
  const indexById = new Map(
    observed.pipelines.map((pipeline, pipelineIndex) => [pipeline.id, pipelineIndex]),
  );
  const reportsOf = Map.groupBy(observed.reports, (report) => report.nodeId);
  const targets = observed.nodes.map((node) => ({
    labels: effectiveLabels(node.agentLabels, node.uiLabels, observed.groups),
    maintenance: node.maintenance,
  }));
  const desiredByNode = desiredPipelines(observed.pipelines, targets);
  const pairsOf: Pair[][] = observed.pipelines.map(() => []);
  const nodes = observed.nodes.map((node, index): NodeStatus => {
    const labels = targets[index]?.labels ?? {};
    let groups: NodeLabels['groups'] | undefined;
    const wanted = desiredByNode[index] ?? [];
    const reports = reportsOf.get(node.id) ?? [];
    const reportOf = createReportLookup(reports);
    const {
      pipelineIndexes,
      crashed,
      health: { status, reason },
      overdue,
    } = classifyNode(
      { node, labels, wanted, reports, reportOf },
      { pipelines: observed.pipelines, indexById, time },
    );
    const desiredSet = pipelineIndexes.length > wanted.length ? new Set(wanted) : null;
    let running = 0;
    const pairs = pipelineIndexes.flatMap((pipelineIndex): Pair[] => {
      const pipeline = observed.pipelines[pipelineIndex];
      if (!pipeline) return [];
      const desired = desiredSet === null || desiredSet.has(pipelineIndex);
      const report = reportOf(pipeline.id);
      const target = desiredVersion(pipeline, labels, node.id);
      const refused = desired
        ? refusalOf(pipeline.reverts[node.id], target.intended, report, pipeline)
        : null;
      if (desired && report?.status === 'RUNNING') running += 1;
      const pair: Pair = {
        node,
        health: status,
        pipeline,
        desired,
        version: desired ? target.version : null,
        versionId: desired ? target.versionId : null,
        report,
        refused,
        gate: {
          nodeName: node.name,
          status: report?.status ?? 'PENDING',
          version: report?.version ?? null,
          desired: desired ? target.version : null,
          canary: target.canary,
          health: status,
          lastError: report?.lastError ?? null,
          degraded: report?.status === 'RUNNING' ? report.degraded : null,
          draining: report?.draining ?? null,
          since: report?.statusSince ?? null,
          refused,
        },
      };
      pairsOf[pipelineIndex]?.push(pair);
      return [pair];
    });
    return {
      node,
      labels,
      get labelSources() {
        return labelsOf(node.agentLabels, node.uiLabels, observed.groups).sources;
      },
      get groups() {
        groups ??= groupsOf(node.agentLabels, node.uiLabels, observed.groups);
        return groups;
      },
      health: status,
      healthReason: reason,
      overdue,
      gate: nodeGate(observed.binding, {
        health: status,
        pipelines: pairs.map((pair) => pair.gate),
        desired: pairs.map((pair) => pair.version),
      }),
      pairs,
      get pipelines() {
        return pairs.map(onNode);
      },
      desired: wanted.length,
      running,
      crashed: crashed.length,
    };
  });
  const pipelines = observed.pipelines.map((pipeline, pipelineIndex) =>
    pipelineStatus(pipeline, pairsOf[pipelineIndex] ?? []),
  );
  return { nodes, pipelines };
}

const lastRates = (report: ReportRow | undefined): Rates =>
  report?.status === 'RUNNING'
    ? {
        eventsIn: report.rateEventsIn,
        eventsOut: report.rateEventsOut,
        bytesIn: report.rateBytesIn,
        bytesOut: report.rateBytesOut,
        errors: report.rateErrors,
        asOf: report.metricsAsOf,
      }
    : NO_RATES;

const isReachable = ({ health }: Pair): boolean => health === 'HEALTHY' || health === 'DEGRADED';

/** The rates that count in a sum: zero for an unreachable node. */
const ratesOf = (pair: Pair): Rates => (isReachable(pair) ? lastRates(pair.report) : NO_RATES);

/** The rates presented for a single node: for an unreachable one the last reported rates, with their age. */
function ratesOnNode(pair: Pair): Rates {
  const rates = lastRates(pair.report);
  return isReachable(pair) || rates === NO_RATES
    ? rates
    : { ...rates, asOf: rates.asOf ?? pair.report?.detail?.reportedAt ?? null };
}

function onNode(pair: Pair): PipelineOnNode {
  const { node, health, pipeline, report } = pair;
  const detail = report?.detail;
  return {
    nodeId: node.id,
    nodeName: node.name,
    nodeHealth: health,
    maintenance: node.maintenance,
    pipelineId: pipeline.id,
    pipelineName: pipeline.name,
    status: report?.status ?? 'PENDING',
    version: report?.version ?? null,
    desiredVersion: pair.version,
    pid: detail?.pid ?? null,
    uptimeSeconds: detail?.uptimeSeconds ?? null,
    restarts: detail?.restarts ?? 0,
    metricsPort: detail?.metricsPort ?? null,
    apiPort: detail?.apiPort ?? null,
    lastError: report?.lastError ?? null,
    degraded: report?.degraded ?? null,
    warnings: detail?.warnings ?? [],
    draining: report?.draining ?? null,
    lastDrain: detail?.lastDrain ?? null,
    refused: pair.refused,
    reportedAt: detail?.reportedAt ?? null,
    eventsIn: detail?.eventsIn ?? 0,
    eventsOut: detail?.eventsOut ?? 0,
    bytesIn: detail?.bytesIn ?? 0,
    bytesOut: detail?.bytesOut ?? 0,
    errorsTotal: detail?.errorsTotal ?? 0,
    rates: ratesOnNode(pair),
  };
}

function pipelineStatus(pipeline: PipelineRow, pairs: readonly Pair[]): PipelineStatus {
  const { manifest } = pipeline;
  const desired = pairs.filter((pair) => pair.desired);
  const input: GateInput = {
    managedBy: pipeline.managedBy,
    isDraft: pipeline.isDraft,
    manifest: manifest && {
      seenCommit: manifest.seenCommit,
      appliedCommit: manifest.appliedCommit,
      upToDate: manifest.seenHash === manifest.appliedHash,
      applied: manifest.conditions.find((condition) => condition.type === 'Applied') ?? null,
      removed: manifest.prunePending,
      problem: pipeline.problem,
    },
    deployed:
      pipeline.deployedVersion === null
        ? null
        : { version: pipeline.deployedVersion, commit: pipeline.deployedCommit, at: pipeline.deployedAt },
    rollout: pipeline.rollout && gateRolloutOf(pipeline.rollout),
    latestVersion: pipeline.latestVersion,
    nodes: desired.map((pair) => pair.gate),
  };
  const gate = pipelineGate(input);
  return {
    pipeline,
    get onNodes() {
      return pairs.map(onNode);
    },
    counts: count(desired),
    refused: refusedOf(desired),
    rates: sumRates(pairs.map((pair) => ({ rates: ratesOf(pair) }))),
    gate,
    silentNodes: silentNodes(input),
    conditions: manifest
      ? [...manifest.conditions, ...rolloutConditions(gate, input, manifest.path, manifest.line)]
      : [],
  };
}

function refusedOf(pairs: readonly Pair[]): PipelineStatus['refused'] {
  const refusals = pairs.flatMap(({ refused }) => refused ?? []);
  const [first] = refusals;
  return first ? { version: first.version, count: refusals.length, reason: first.reason } : null;
}

function count(pairs: readonly Pair[]): StatusCounts {
  const counts = { PENDING: 0, STARTING: 0, RUNNING: 0, STOPPED: 0, CRASHED: 0 };
  for (const { gate } of pairs) counts[gate.status] += 1;
  return {
    total: pairs.length,
    pending: counts.PENDING,
    starting: counts.STARTING,
    running: counts.RUNNING,
    stopped: counts.STOPPED,
    crashed: counts.CRASHED,
  };
}

export function sumRates(entries: readonly { rates: Rates }[]): Rates {
  const sum = { ...NO_RATES };
  for (const { rates } of entries) {
    sum.eventsIn += rates.eventsIn;
    sum.eventsOut += rates.eventsOut;
    sum.bytesIn += rates.bytesIn;
    sum.bytesOut += rates.bytesOut;
    sum.errors += rates.errors;
    if (rates.asOf && (sum.asOf === null || rates.asOf < sum.asOf)) sum.asOf = rates.asOf;
  }
  return sum;
}
