/** Queries of rollouts: the latest ones of a pipeline, and the active one with the state of each node. */
import {
  ActiveRollout,
  OfPipelineRollout,
  type Rollout,
  RolloutList,
} from '../../../schemas/api/delivery/rollouts.ts';
import {
  findActiveRollout,
  listRollouts,
  type RolloutRecord,
  summaryOf,
} from '../../delivery/rollouts/index.ts';
import { type NodeStatus, readStatus, stageOfNode } from '../../fleet/status/index.ts';
import { objectScope } from '../../identity/access/index.ts';
import { query } from '../../platform/operation/operation.ts';

const MAX_LISTED = 10;
const MAX_NODES = 200;

type RolloutNode = Rollout['nodes'][number];
interface NodeProgress {
  node: RolloutNode;
  reachable: boolean;
}

function progressOf(
  rollout: RolloutRecord,
  { node, labels, health, pairs }: NodeStatus,
): NodeProgress | null {
  const stage = stageOfNode(rollout, labels);
  if (stage === null) return null;
  const pair = pairs.find(({ pipeline }) => pipeline.id === rollout.pipelineId);
  return {
    reachable: !node.maintenance && health !== 'UNREACHABLE' && health !== 'UNKNOWN',
    node: {
      ...{ nodeId: node.id, name: node.name, stage, health },
      desiredVersion: pair?.version ?? null,
      version: pair?.report?.version ?? null,
      status: pair?.report?.status ?? 'PENDING',
    },
  };
}

const isDone = ({ desiredVersion, version, status }: RolloutNode): boolean =>
  desiredVersion !== null && version === desiredVersion && status === 'RUNNING';

function countStage(progress: readonly NodeProgress[], stage: RolloutNode['stage']): Rollout['canary'] {
  const inStage = progress.filter(({ node }) => node.stage === stage);
  return {
    total: inStage.length,
    onVersion: inStage.filter(
      ({ node }) => node.desiredVersion !== null && node.version === node.desiredVersion,
    ).length,
    unreachable: inStage.filter(({ reachable }) => !reachable).length,
    crashed: inStage.filter(({ node }) => node.status === 'CRASHED').length,
  };
}

/** Canary nodes first; within a stage, unfinished nodes first. */
const rank = ({ node }: NodeProgress): number => (node.stage === 'canary' ? 0 : 2) + (isDone(node) ? 1 : 0);

function detailed(rollout: RolloutRecord, nodes: readonly NodeStatus[]): Rollout {
  const progress = nodes.flatMap((node) => progressOf(rollout, node) ?? []);
  return {
    ...summaryOf(rollout),
    canary: countStage(progress, 'canary'),
    control: countStage(progress, 'control'),
    // Nodes come ordered by name, and the sort is stable.
    nodes: progress
      .toSorted((a, b) => rank(a) - rank(b))
      .slice(0, MAX_NODES)
      .map(({ node }) => node),
  };
}

export const getActive = query({
  name: 'stagedRollout.getActive',
  summary: 'The active rollout and the version of each node; null if there is none',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: OfPipelineRollout,
  output: ActiveRollout,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId }) {
    const rollout = await findActiveRollout(ctx.db, pipelineId);
    if (!rollout) return null;
    const { nodes } = await readStatus(ctx, { environmentId: rollout.environmentId, pipelineId });
    return detailed(rollout, nodes);
  },
});

export const list = query({
  name: 'stagedRollout.list',
  summary: 'The latest rollouts of a pipeline, newest first, at most 10',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: OfPipelineRollout,
  output: RolloutList,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: async (ctx, { pipelineId }) => (await listRollouts(ctx.db, pipelineId, MAX_LISTED)).map(summaryOf),
});
