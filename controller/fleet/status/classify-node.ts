/** Classifies one node: which pipelines it should run or runs, which crashed, and its health. */
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { NodeHealth } from '../../../schemas/api/pipelines/on-nodes.ts';
import type { FleetSettings } from '../settings/index.ts';
import { isOverdue, nodeHealth } from './node-health.ts';
import type { NodeRow, PipelineRow, ReportRow } from './observed-rows.ts';
import { afterRevert, isCanary } from './version-for-node.ts';

export interface JoinTime {
  now: number;
  listeningSince: number;
  settings: FleetSettings;
}

/** The part of a node's report of a pipeline that the matrix needs. */
export type ReportedState = Pick<ReportRow, 'pipelineId' | 'version' | 'status'>;

/** Most nodes report a handful of pipelines, for which a linear search is faster than a map. */
const LINEAR_SEARCH_MAX = 16;

export function createReportLookup<R extends ReportedState>(
  reports: readonly R[],
): (pipelineId: string) => R | undefined {
  if (reports.length <= LINEAR_SEARCH_MAX) return (id) => reports.find((report) => report.pipelineId === id);
  const byPipeline = new Map(reports.map((report) => [report.pipelineId, report]));
  return (id) => byPipeline.get(id);
}

/** The version of a pipeline that a node with these labels should run, and since when; null ids if none. */
export function desiredVersion(
  pipeline: Pick<PipelineRow, 'deployedVersionId' | 'deployedVersion' | 'deployedAt' | 'rollout' | 'reverts'>,
  labels: LabelMap,
  nodeId: string,
): DesiredVersion {
  const intended = intendedVersion(pipeline, labels);
  const revert = pipeline.reverts[nodeId];
  if (!revert || revert.fault !== null || intended.versionId === null) return { ...intended, intended };
  if (afterRevert(intended.versionId, revert) === intended.versionId) return { ...intended, intended };
  const { servedVersionId: versionId, servedVersion: version, since } = revert;
  return { versionId, version, since: new Date(since), canary: intended.canary, intended };
}

interface IntendedVersion {
  versionId: string | null;
  version: number | null;
  since: Date | null;
  canary: boolean;
}
interface DesiredVersion extends IntendedVersion {
  /** The version before reverts: the one that the node would run if it did not fail there. */
  intended: IntendedVersion;
}

function intendedVersion(
  pipeline: Pick<PipelineRow, 'deployedVersionId' | 'deployedVersion' | 'deployedAt' | 'rollout'>,
  labels: LabelMap,
): IntendedVersion {
  const { rollout, deployedVersionId, deployedVersion, deployedAt } = pipeline;
  if (rollout !== null && isCanary(pipeline, labels))
    return { versionId: rollout.versionId, version: rollout.version, since: rollout.since, canary: true };
  return { versionId: deployedVersionId, version: deployedVersion, since: deployedAt, canary: false };
}

export interface ClassifiedNode {
  /** Indexes of the pipelines that the node should run or runs nevertheless, ascending. */
  pipelineIndexes: readonly number[];
  /** Names of pipelines. */
  crashed: readonly string[];
  health: { status: NodeHealth; reason: string };
  /** Its last report says nothing of now. */
  overdue: boolean;
}

export function classifyNode(
  input: {
    node: NodeRow;
    /** Effective labels. */
    labels: LabelMap;
    /** Indexes of the pipelines that it should run, ascending. */
    wanted: readonly number[];
    reports: readonly ReportedState[];
    reportOf: (pipelineId: string) => ReportedState | undefined;
  },
  {
    pipelines,
    indexById,
    time,
  }: { pipelines: readonly PipelineRow[]; indexById: ReadonlyMap<string, number>; time: JoinTime },
): ClassifiedNode {
  const { node, labels, wanted, reports, reportOf } = input;
  const intervalMs = Math.max(time.settings.pollIntervalMs, node.pollIntervalMs ?? 0);
  const crashed: string[] = [];
  const reverted: string[] = [];
  const lagging: string[] = [];
  for (const index of wanted) {
    const pipeline = pipelines[index];
    if (!pipeline) continue;
    const { version, since, intended } = desiredVersion(pipeline, labels, node.id);
    if (version !== intended.version) reverted.push(pipeline.name);
    const late = time.now - (since?.getTime() ?? time.now) > 2 * intervalMs;
    if (late && reportOf(pipeline.id)?.version !== version) lagging.push(pipeline.name);
  }
  const pipelineIndexes = [...wanted];
  for (const report of reports) {
    const index = indexById.get(report.pipelineId);
    if (index !== undefined && report.status !== 'STOPPED' && !wanted.includes(index))
      pipelineIndexes.push(index);
  }
  // Keeps the order of the pipeline list.
  if (pipelineIndexes.length > wanted.length) pipelineIndexes.sort((a, b) => a - b);
  for (const index of pipelineIndexes) {
    const pipeline = pipelines[index];
    if (pipeline && reportOf(pipeline.id)?.status === 'CRASHED') crashed.push(pipeline.name);
  }
  const silence = {
    lastHeartbeatAt: node.heardAt?.getTime() ?? null,
    intervalMs,
    unhealthyThreshold: time.settings.unhealthyThreshold,
    now: time.now,
  };
  const health = nodeHealth({
    ...silence,
    listeningSince: time.listeningSince,
    crashed,
    lagging,
    reverted,
    updateError: node.updateError,
    revoked: node.revoked,
  });
  const overdue = isOverdue({ ...silence, lastReportAt: node.reportedAt?.getTime() ?? null });
  return { pipelineIndexes, crashed, health, overdue };
}
