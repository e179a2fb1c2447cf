/** The cells of the fleet matrix: a join for thousands of nodes, without the fields that only lists and detail pages need. */
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { NodeHealth, NodePipelineStatus } from '../../../schemas/api/pipelines/on-nodes.ts';
import { effectiveLabels, groupsOf, type NodeLabels } from '../groups/index.ts';
import { classifyNode, createReportLookup, type JoinTime, type ReportedState } from './classify-node.ts';
import { desiredPipelines } from './desired-pipelines.ts';
import type { CompactObserved, NodeRow, PipelineRow } from './observed-rows.ts';
import { isCanary } from './version-for-node.ts';

export interface Cell {
  /** Index of its pipeline among those of the environment. */
  pipelineIndex: number;
  desired: boolean;
  /** Whether the node should run the canary version of an active rollout. */
  canary: boolean;
  status: NodePipelineStatus;
  /** The version that the node reports; null before its first report. */
  version: number | null;
}

export interface NodeCells {
  node: NodeRow;
  /** Effective labels, which selectors match. */
  labels: LabelMap;
  groups: NodeLabels['groups'];
  health: NodeHealth;
  /** Its last report is too old to say anything of now, even where its health is not UNREACHABLE yet. */
  overdue: boolean;
  cells: readonly Cell[];
}

export interface Cells {
  nodes: readonly NodeCells[];
  pipelines: readonly PipelineRow[];
}

export function joinCells({ nodes, pipelines, groups, states }: CompactObserved, time: JoinTime): Cells {
  const indexById = new Map(pipelines.map(({ id }, pipelineIndex) => [id, pipelineIndex]));
  const reportsOf: ReportedState[][] = nodes.map(() => []);
  for (const { nodeIndexes, ...report } of states)
    for (const pipelineIndex of nodeIndexes) reportsOf[pipelineIndex]?.push(report);
  const targets = nodes.map(({ agentLabels, uiLabels, maintenance }) => ({
    labels: effectiveLabels(agentLabels, uiLabels, groups),
    maintenance,
  }));
  const desiredByNode = desiredPipelines(pipelines, targets);
  return {
    pipelines,
    nodes: nodes.map((node, index): NodeCells => {
      const wanted = desiredByNode[index] ?? [];
      const labels = targets[index]?.labels ?? {};
      const reports = reportsOf[index] ?? [];
      const reportOf = createReportLookup(reports);
      const { pipelineIndexes, health, overdue } = classifyNode(
        { node, labels, wanted, reports, reportOf },
        { pipelines, indexById, time },
      );
      const desiredSet = pipelineIndexes.length > wanted.length ? new Set(wanted) : null;
      return {
        node,
        labels,
        groups: groupsOf(node.agentLabels, node.uiLabels, groups),
        health: health.status,
        overdue,
        cells: pipelineIndexes.map((pipelineIndex): Cell => {
          const pipeline = pipelines[pipelineIndex];
          const report = reportOf(pipeline?.id ?? '');
          return {
            pipelineIndex,
            desired: desiredSet === null || desiredSet.has(pipelineIndex),
            canary: pipeline !== undefined && isCanary(pipeline, labels),
            status: report?.status ?? 'PENDING',
            version: report?.version ?? null,
          };
        }),
      };
    }),
  };
}
