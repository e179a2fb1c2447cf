/** Rollouts as they are shown: the last ones of a pipeline, and the active one with who runs what. */
import {
  ActiveRollout,
  OfPipelineRollout,
  type Rollout,
  RolloutList,
} from '../../../schemas/api/rollouts.ts';
import {
  findActiveRollout,
  listRollouts,
  type RolloutRecord,
  summaryOf,
} from '../../delivery/rollouts/index.ts';
import { type NodeStatus, readStatus, stageOfNode } from '../../fleet/status/index.ts';
import { objectScope } from '../../identity/access/index.ts';
import { query } from '../../platform/operation/operation.ts';

const LISTED = 10;
const NODES_TOLD = 200;

type RolloutNode = Rollout['nodes'][number];
interface Standing {
  node: RolloutNode;
  reachable: boolean;
}

function standingOf(rollout: RolloutRecord, { node, labels, health, pairs }: NodeStatus): Standing | null {
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

const isThere = ({ desiredVersion, version, status }: RolloutNode): boolean =>
  desiredVersion !== null && version === desiredVersion && status === 'RUNNING';

function reachedOf(standings: readonly Standing[], stage: RolloutNode['stage']): Rollout['canary'] {
  const of = standings.filter(({ node }) => node.stage === stage);
  return {
    total: of.length,
    onVersion: of.filter(({ node }) => node.desiredVersion !== null && node.version === node.desiredVersion)
      .length,
    unreachable: of.filter(({ reachable }) => !reachable).length,
    crashed: of.filter(({ node }) => node.status === 'CRASHED').length,
  };
}

/** Canary nodes first; those that are not where they should be before the others. */
const rank = ({ node }: Standing): number => (node.stage === 'canary' ? 0 : 2) + (isThere(node) ? 1 : 0);

function detailed(rollout: RolloutRecord, nodes: readonly NodeStatus[]): Rollout {
  const standings = nodes.flatMap((node) => standingOf(rollout, node) ?? []);
  return {
    ...summaryOf(rollout),
    canary: reachedOf(standings, 'canary'),
    control: reachedOf(standings, 'control'),
    // Nodes come by name, and sorting keeps that.
    nodes: standings
      .toSorted((a, b) => rank(a) - rank(b))
      .slice(0, NODES_TOLD)
      .map(({ node }) => node),
  };
}

export const getActive = query({
  name: 'stagedRollout.getActive',
  summary: 'The rollout that is under way, and which node runs what of it; null where none is',
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
  summary: 'The last rollouts of a pipeline, newest first, at most 10',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: OfPipelineRollout,
  output: RolloutList,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: async (ctx, { pipelineId }) => (await listRollouts(ctx.db, pipelineId, LISTED)).map(summaryOf),
});
