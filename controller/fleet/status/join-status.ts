/** What should run, joined with what runs: for each node and pipeline the status, for each node its health, for each pipeline its gate. */
import type { Condition, Gate, LabelMap } from '../../../schemas/api/common.ts';
import type {
  NodeHealth,
  PipelineOnNode,
  Rates,
  Refusal,
  StatusCounts,
} from '../../../schemas/api/pipelines.ts';
import { effectiveLabels, groupsOf, labelsOf, type NodeLabels } from '../groups/index.ts';
import { classifyNode, desiredOf, finder, type JoinTime } from './classify-node.ts';
import { desiredPipelines } from './desired-pipelines.ts';
import {
  type GateInput,
  type GateNode,
  nodeGate,
  pipelineGate,
  rolloutConditions,
  silentNodes,
} from './gate.ts';
import { gateRolloutOf } from './gate-rollout.ts';
import type { NodeRow, Observed, PipelineRow, ReportRow } from './queries.ts';
import { refusalOf } from './refusal.ts';

/** One pipeline on one node: what it should run there, and what the node says of it. */
export interface Pair {
  node: NodeRow;
  health: NodeHealth;
  pipeline: PipelineRow;
  desired: boolean;
  /** What it should run; both null where it should run nothing. */
  version: number | null;
  versionId: string | null;
  report: ReportRow | undefined;
  /** The version that is meant for the node does not run there. */
  refused: Refusal | null;
  gate: GateNode;
}

export interface NodeStatus {
  node: NodeRow;
  /** Effective: what selectors look at. */
  labels: LabelMap;
  readonly labelSources: NodeLabels['sources'];
  readonly groups: NodeLabels['groups'];
  health: NodeHealth;
  healthReason: string;
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
  /** The version that does not run on some nodes; null where none is known of. */
  refused: { version: number; count: number; reason: string } | null;
  rates: Rates;
  gate: Gate;
  /** Names of nodes that should run it and do not answer. */
  silentNodes: readonly string[];
  /** Those of the last pass, and what the nodes say. Empty for a pipeline that git does not own. */
  conditions: Condition[];
}

export interface Joined {
  nodes: NodeStatus[];
  pipelines: PipelineStatus[];
}

const NO_RATES: Rates = { eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0, asOf: null };

/** What lists do not show is made when it is asked for. */
export function join(observed: Observed, time: JoinTime): Joined {
  const places = new Map(observed.pipelines.map((pipeline, place) => [pipeline.id, place]));
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
    const reportOf = finder(reports);
    const {
      shown,
      crashed,
      health: { status, reason },
    } = classifyNode(
      { node, labels, wanted, reports, reportOf },
      { pipelines: observed.pipelines, places, time },
    );
    const isWanted = shown.length > wanted.length ? new Set(wanted) : null;
    let running = 0;
    const pairs = shown.flatMap((place): Pair[] => {
      const pipeline = observed.pipelines[place];
      if (!pipeline) return [];
      const desired = isWanted === null || isWanted.has(place);
      const report = reportOf(pipeline.id);
      const wished = desiredOf(pipeline, labels, node.id);
      const refused = desired ? refusalOf(pipeline.reverts[node.id], wished.meant, report, pipeline) : null;
      if (desired && report?.status === 'RUNNING') running += 1;
      const pair: Pair = {
        node,
        health: status,
        pipeline,
        desired,
        version: desired ? wished.version : null,
        versionId: desired ? wished.versionId : null,
        report,
        refused,
        gate: {
          nodeName: node.name,
          status: report?.status ?? 'PENDING',
          version: report?.version ?? null,
          desired: desired ? wished.version : null,
          canary: wished.canary,
          health: status,
          lastError: report?.lastError ?? null,
          degraded: report?.status === 'RUNNING' ? report.degraded : null,
          draining: report?.draining ?? null,
          since: report?.statusSince ?? null,
          refused,
        },
      };
      pairsOf[place]?.push(pair);
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
  const pipelines = observed.pipelines.map((pipeline, place) =>
    pipelineStatus(pipeline, pairsOf[place] ?? []),
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

const isHeard = ({ health }: Pair): boolean => health === 'HEALTHY' || health === 'DEGRADED';

/** What a sum has of it: nothing of a node that is silent. */
const ratesOf = (pair: Pair): Rates => (isHeard(pair) ? lastRates(pair.report) : NO_RATES);

/** On its own, what a silent node last reported, with its age. */
function ratesOnNode(pair: Pair): Rates {
  const rates = lastRates(pair.report);
  return isHeard(pair) || rates === NO_RATES
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
      gone: manifest.prunePending,
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
  const of = { PENDING: 0, STARTING: 0, RUNNING: 0, STOPPED: 0, CRASHED: 0 };
  for (const { gate } of pairs) of[gate.status] += 1;
  return {
    total: pairs.length,
    pending: of.PENDING,
    starting: of.STARTING,
    running: of.RUNNING,
    stopped: of.STOPPED,
    crashed: of.CRASHED,
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
