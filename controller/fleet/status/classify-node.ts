/** One node: what is shown of it, and its health. For all who put together what should run and what runs. */
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { NodeHealth } from '../../../schemas/api/pipelines.ts';
import type { FleetSettings } from '../settings/index.ts';
import { nodeHealth } from './health.ts';
import type { NodeRow, PipelineRow, ReportRow } from './queries.ts';
import { afterRevert, isCanary } from './version-for-node.ts';

export interface JoinTime {
  now: number;
  listeningSince: number;
  settings: FleetSettings;
}

/** What a node says of a pipeline, in short. */
export type ReportedState = Pick<ReportRow, 'pipelineId' | 'version' | 'status'>;

/** Most nodes report a handful of pipelines. */
const FEW = 16;

export function finder<R extends ReportedState>(
  reports: readonly R[],
): (pipelineId: string) => R | undefined {
  if (reports.length <= FEW) return (id) => reports.find((report) => report.pipelineId === id);
  const byPipeline = new Map(reports.map((report) => [report.pipelineId, report]));
  return (id) => byPipeline.get(id);
}

/** The version of a pipeline that a node with these labels should run, where it should run one, and since when. */
export function desiredOf(
  pipeline: Pick<PipelineRow, 'deployedVersionId' | 'deployedVersion' | 'deployedAt' | 'rollout' | 'reverts'>,
  labels: LabelMap,
  nodeId: string,
): Wished {
  const meant = meantFor(pipeline, labels);
  const revert = pipeline.reverts[nodeId];
  if (!revert || revert.fault !== null || meant.versionId === null) return { ...meant, meant };
  if (afterRevert(meant.versionId, revert) === meant.versionId) return { ...meant, meant };
  const { servedVersionId: versionId, servedVersion: version, since } = revert;
  return { versionId, version, since: new Date(since), canary: meant.canary, meant };
}

interface Meant {
  versionId: string | null;
  version: number | null;
  since: Date | null;
  canary: boolean;
}
interface Wished extends Meant {
  /** Were it not that this does not run there. */
  meant: Meant;
}

function meantFor(
  pipeline: Pick<PipelineRow, 'deployedVersionId' | 'deployedVersion' | 'deployedAt' | 'rollout'>,
  labels: LabelMap,
): Meant {
  const { rollout, deployedVersionId, deployedVersion, deployedAt } = pipeline;
  if (rollout !== null && isCanary(pipeline, labels))
    return { versionId: rollout.versionId, version: rollout.version, since: rollout.since, canary: true };
  return { versionId: deployedVersionId, version: deployedVersion, since: deployedAt, canary: false };
}

export interface ClassifiedNode {
  /** Places of the pipelines that it should run, or runs all the same; ascending. */
  shown: readonly number[];
  /** Names of pipelines. */
  crashed: readonly string[];
  health: { status: NodeHealth; reason: string };
}

export function classifyNode(
  of: {
    node: NodeRow;
    /** Effective. */
    labels: LabelMap;
    /** Places of the pipelines that it should run, ascending. */
    wanted: readonly number[];
    reports: readonly ReportedState[];
    reportOf: (pipelineId: string) => ReportedState | undefined;
  },
  {
    pipelines,
    places,
    time,
  }: { pipelines: readonly PipelineRow[]; places: ReadonlyMap<string, number>; time: JoinTime },
): ClassifiedNode {
  const { node, labels, wanted, reports, reportOf } = of;
  const intervalMs = Math.max(time.settings.pollIntervalMs, node.pollIntervalMs ?? 0);
  const crashed: string[] = [];
  const reverted: string[] = [];
  const lagging: string[] = [];
  for (const place of wanted) {
    const pipeline = pipelines[place];
    if (!pipeline) continue;
    const { version, since, meant } = desiredOf(pipeline, labels, node.id);
    if (version !== meant.version) reverted.push(pipeline.name);
    const late = time.now - (since?.getTime() ?? time.now) > 2 * intervalMs;
    if (late && reportOf(pipeline.id)?.version !== version) lagging.push(pipeline.name);
  }
  const shown = [...wanted];
  for (const report of reports) {
    const place = places.get(report.pipelineId);
    if (place !== undefined && report.status !== 'STOPPED' && !wanted.includes(place)) shown.push(place);
  }
  // In the order of the pipelines, as they are listed.
  if (shown.length > wanted.length) shown.sort((a, b) => a - b);
  for (const place of shown) {
    const pipeline = pipelines[place];
    if (pipeline && reportOf(pipeline.id)?.status === 'CRASHED') crashed.push(pipeline.name);
  }
  const health = nodeHealth({
    lastHeartbeatAt: node.reportedAt?.getTime() ?? null,
    intervalMs,
    unhealthyThreshold: time.settings.unhealthyThreshold,
    now: time.now,
    listeningSince: time.listeningSince,
    crashed,
    lagging,
    reverted,
    updateError: node.updateError,
    revoked: node.revoked,
  });
  return { shown, crashed, health };
}
