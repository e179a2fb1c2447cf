/** What should run, joined with what runs: for each node and pipeline the status, for each node its health, for each pipeline its gate. */
import type { Condition, Gate, LabelMap } from '../../schemas/api/common.ts';
import type { NodeHealth, PipelineOnNode, Rates, StatusCounts } from '../../schemas/api/pipelines.ts';
import { labelsOf, type NodeLabels } from '../node-groups/index.ts';
import type { FleetSettings } from '../settings/index.ts';
import { type GateInput, type GateNode, nodeGate, pipelineGate, rolloutConditions } from './gate.ts';
import { nodeHealth } from './health.ts';
import type { NodeRow, Observed, PipelineRow, ReportRow } from './queries.ts';
import { versionForNode } from './selection.ts';

export interface NodeStatus {
  node: NodeRow;
  /** Effective: what selectors look at. */
  labels: LabelMap;
  labelSources: NodeLabels['sources'];
  groups: NodeLabels['groups'];
  health: NodeHealth;
  healthReason: string;
  gate: Gate;
  pipelines: PipelineOnNode[];
  desired: number;
  running: number;
  crashed: number;
}

export interface PipelineStatus {
  pipeline: PipelineRow;
  onNodes: PipelineOnNode[];
  counts: StatusCounts;
  rates: Rates;
  gate: Gate;
  /** Those of the last pass, and what the nodes say. Empty for a pipeline that git does not own. */
  conditions: Condition[];
}

export interface Joined {
  nodes: NodeStatus[];
  pipelines: PipelineStatus[];
}

export interface JoinTime {
  now: number;
  listeningSince: number;
  settings: FleetSettings;
}

const NO_RATES: Rates = { eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0 };
const key = (nodeId: string, pipelineId: string) => `${nodeId}/${pipelineId}`;

export function join(observed: Observed, time: JoinTime): Joined {
  const reports = new Map(observed.reports.map((report) => [key(report.nodeId, report.pipelineId), report]));
  const byPipeline = new Map<string, PipelineOnNode[]>(
    observed.pipelines.map((pipeline) => [pipeline.id, []]),
  );
  const desiredOf = new Map<string, PipelineOnNode[]>(
    observed.pipelines.map((pipeline) => [pipeline.id, []]),
  );
  const nodes = observed.nodes.map((node) => {
    const { effective: labels, sources, groups } = labelsOf(node.agentLabels, node.uiLabels, observed.groups);
    const intervalMs = Math.max(time.settings.pollIntervalMs, node.pollIntervalMs ?? 0);
    const crashed: string[] = [];
    const lagging: string[] = [];
    const pairs = observed.pipelines.flatMap((pipeline) => {
      const desired = versionForNode(pipeline, { labels, maintenance: node.maintenance }) !== null;
      const report = reports.get(key(node.id, pipeline.id));
      if (!desired && (!report || report.status === 'STOPPED')) return [];
      if (report?.status === 'CRASHED') crashed.push(pipeline.name);
      const late = time.now - (pipeline.deployedAt?.getTime() ?? time.now) > 2 * intervalMs;
      if (desired && late && report?.version !== pipeline.deployedVersion) lagging.push(pipeline.name);
      return [{ pipeline, desired, report }];
    });
    const { status, reason } = nodeHealth({
      lastHeartbeatAt: node.reportedAt?.getTime() ?? null,
      intervalMs,
      unhealthyThreshold: time.settings.unhealthyThreshold,
      now: time.now,
      listeningSince: time.listeningSince,
      crashed,
      lagging,
      updateError: node.updateError,
    });
    const pipelines = pairs.map(({ pipeline, desired, report }) => {
      const entry = onNode(node, status, pipeline, desired, report);
      byPipeline.get(pipeline.id)?.push(entry);
      if (desired) desiredOf.get(pipeline.id)?.push(entry);
      return entry;
    });
    const wanted = pairs.filter((pair) => pair.desired);
    return {
      node,
      labels,
      labelSources: sources,
      groups,
      health: status,
      healthReason: reason,
      gate: nodeGate(observed.binding, {
        health: status,
        pipelines: pipelines.map((entry) => gateNode(entry, reports)),
        desired: pipelines.map((entry) => entry.desiredVersion),
      }),
      pipelines,
      desired: wanted.length,
      running: wanted.filter((pair) => pair.report?.status === 'RUNNING').length,
      crashed: crashed.length,
    };
  });
  const pipelines = observed.pipelines.map((pipeline) =>
    pipelineStatus(pipeline, byPipeline.get(pipeline.id) ?? [], desiredOf.get(pipeline.id) ?? [], reports),
  );
  return { nodes, pipelines };
}

function onNode(
  node: NodeRow,
  health: NodeHealth,
  pipeline: PipelineRow,
  desired: boolean,
  report: ReportRow | undefined,
): PipelineOnNode {
  const fresh = health === 'HEALTHY' || health === 'DEGRADED';
  return {
    nodeId: node.id,
    nodeName: node.name,
    nodeHealth: health,
    maintenance: node.maintenance,
    pipelineId: pipeline.id,
    pipelineName: pipeline.name,
    status: report?.status ?? 'PENDING',
    version: report?.version ?? null,
    desiredVersion: desired ? pipeline.deployedVersion : null,
    pid: report?.pid ?? null,
    uptimeSeconds: report?.uptimeSeconds ?? null,
    restarts: report?.restarts ?? 0,
    lastError: report?.lastError ?? null,
    reportedAt: report?.reportedAt ?? null,
    eventsIn: report?.eventsIn ?? 0,
    eventsOut: report?.eventsOut ?? 0,
    bytesIn: report?.bytesIn ?? 0,
    bytesOut: report?.bytesOut ?? 0,
    errorsTotal: report?.errorsTotal ?? 0,
    rates:
      report && fresh && report.status === 'RUNNING'
        ? {
            eventsIn: report.rateEventsIn,
            eventsOut: report.rateEventsOut,
            bytesIn: report.rateBytesIn,
            bytesOut: report.rateBytesOut,
            errors: report.rateErrors,
          }
        : NO_RATES,
  };
}

function gateNode(entry: PipelineOnNode, reports: ReadonlyMap<string, ReportRow>): GateNode {
  return {
    nodeName: entry.nodeName,
    status: entry.status,
    version: entry.version,
    health: entry.nodeHealth,
    lastError: entry.lastError,
    since: reports.get(key(entry.nodeId, entry.pipelineId))?.statusSince ?? null,
  };
}

function pipelineStatus(
  pipeline: PipelineRow,
  onNodes: PipelineOnNode[],
  desired: PipelineOnNode[],
  reports: ReadonlyMap<string, ReportRow>,
): PipelineStatus {
  const { manifest } = pipeline;
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
    latestVersion: pipeline.latestVersion,
    nodes: desired.map((entry) => gateNode(entry, reports)),
  };
  const gate = pipelineGate(input);
  return {
    pipeline,
    onNodes,
    counts: count(desired),
    rates: sumRates(onNodes),
    gate,
    conditions: manifest
      ? [...manifest.conditions, ...rolloutConditions(gate, input, manifest.path, manifest.line)]
      : [],
  };
}

function count(entries: readonly PipelineOnNode[]): StatusCounts {
  const of = (status: PipelineOnNode['status']) => entries.filter((entry) => entry.status === status).length;
  return {
    total: entries.length,
    pending: of('PENDING'),
    starting: of('STARTING'),
    running: of('RUNNING'),
    stopped: of('STOPPED'),
    crashed: of('CRASHED'),
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
  }
  return sum;
}
