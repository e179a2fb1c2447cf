/** What a matrix of thousands of nodes shows: a join without all that only lists and single pages show. */
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { NodeHealth, NodePipelineStatus } from '../../../schemas/api/pipelines.ts';
import { effectiveLabels, groupsOf, type NodeLabels } from '../groups/index.ts';
import { classifyNode, finder, type JoinTime, type ReportedState } from './classify-node.ts';
import { desiredPipelines } from './desired-pipelines.ts';
import type { NodeRow, ObservedInShort, PipelineRow } from './queries.ts';
import { isCanary } from './version-for-node.ts';

export interface Cell {
  /** Of its pipeline, among all of the environment. */
  place: number;
  desired: boolean;
  /** Of a rollout that is active: it should run its version. */
  canary: boolean;
  status: NodePipelineStatus;
  /** What the node reports to run; null before its first report. */
  version: number | null;
}

export interface NodeCells {
  node: NodeRow;
  /** Effective: what selectors look at. */
  labels: LabelMap;
  groups: NodeLabels['groups'];
  health: NodeHealth;
  cells: readonly Cell[];
}

export interface Cells {
  nodes: readonly NodeCells[];
  pipelines: readonly PipelineRow[];
}

export function joinCells({ nodes, pipelines, groups, said }: ObservedInShort, time: JoinTime): Cells {
  const places = new Map(pipelines.map(({ id }, place) => [id, place]));
  const reportsOf: ReportedState[][] = nodes.map(() => []);
  for (const { nodePlaces, ...report } of said)
    for (const place of nodePlaces) reportsOf[place]?.push(report);
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
      const reportOf = finder(reports);
      const { shown, health } = classifyNode(
        { node, labels, wanted, reports, reportOf },
        { pipelines, places, time },
      );
      const isWanted = shown.length > wanted.length ? new Set(wanted) : null;
      return {
        node,
        labels,
        groups: groupsOf(node.agentLabels, node.uiLabels, groups),
        health: health.status,
        cells: shown.map((place): Cell => {
          const pipeline = pipelines[place];
          const report = reportOf(pipeline?.id ?? '');
          return {
            place,
            desired: isWanted === null || isWanted.has(place),
            canary: pipeline !== undefined && isCanary(pipeline, labels),
            status: report?.status ?? 'PENDING',
            version: report?.version ?? null,
          };
        }),
      };
    }),
  };
}
