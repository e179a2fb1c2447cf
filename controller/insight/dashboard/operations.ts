import { NoInput } from '../../../schemas/api/common.ts';
import {
  DashboardInput,
  DashboardStats,
  type NodeCard,
  NodeCards,
  OperationalOverview,
  PipelineCards,
  RecentAudit,
  RecentPipelines,
} from '../../../schemas/api/insight/dashboard.ts';
import { type NodeStatus, readStatus, readStatusOfNodes, sumRates } from '../../fleet/status/index.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden } from '../../platform/operation/errors.ts';
import { ownScope, query } from '../../platform/operation/operation.ts';
import { countNodes, countPipelines, stateOf } from './counts.ts';
import { readOverviews } from './environment-overview.ts';
import {
  countAlertRules,
  listRecentAudit,
  listRecentPipelines,
  listVisibleEnvironments,
  listVisibleNodes,
  type NodeRef,
  type Viewer,
} from './queries.ts';

const RECENT_PIPELINES = 5;
const RECENT_AUDIT = 10;
const RECENT_DEPLOYS = 10;
const DAY_MS = 86_400_000;

function viewerOf({ actor }: Context): Viewer {
  if (actor.type !== 'user') throw forbidden('Only a signed-in user has a dashboard');
  return { userId: actor.userId, teamIds: actor.isSuperAdmin ? null : [...actor.roles.keys()] };
}

export const stats = query({
  name: 'dashboard.stats',
  summary: 'Figures of an environment: nodes, pipelines, throughput, alert rules, deploys of 24 hours',
  role: 'VIEWER',
  input: DashboardInput,
  output: DashboardStats,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const { nodes, pipelines } = await readStatus(ctx, { environmentId });
    const since = ctx.clock.now() - DAY_MS;
    const deployed = pipelines
      .flatMap(({ pipeline }) => {
        const { deployedAt, isDraft } = pipeline;
        return deployedAt && !isDraft && deployedAt.getTime() >= since ? [{ pipeline, deployedAt }] : [];
      })
      .sort((a, b) => b.deployedAt.getTime() - a.deployedAt.getTime());
    return {
      environmentId,
      nodes: countNodes(nodes),
      pipelines: countPipelines(pipelines),
      rates: sumRates(pipelines),
      alertRules: await countAlertRules(ctx.db, environmentId),
      recentDeploys: {
        total: deployed.length,
        latest: deployed.slice(0, RECENT_DEPLOYS).map(({ pipeline, deployedAt }) => ({
          pipelineId: pipeline.id,
          name: pipeline.name,
          version: pipeline.deployedVersion,
          commit: pipeline.deployedCommit,
          deployedAt,
        })),
      },
    };
  },
});

export const recentPipelines = query({
  name: 'dashboard.recentPipelines',
  summary: 'The five pipelines that were changed last, of all your environments',
  role: 'VIEWER',
  input: NoInput,
  output: RecentPipelines,
  scope: () => ownScope,
  run: (ctx) => listRecentPipelines(ctx.db, viewerOf(ctx), RECENT_PIPELINES),
});

export const recentAudit = query({
  name: 'dashboard.recentAudit',
  summary: 'The last ten entries of the audit log, of all your teams and your own',
  role: 'VIEWER',
  input: NoInput,
  output: RecentAudit,
  scope: () => ownScope,
  run: (ctx) => listRecentAudit(ctx.db, viewerOf(ctx), RECENT_AUDIT),
});

export const nodeCards = query({
  name: 'dashboard.nodeCards',
  summary: 'The nodes of all your environments, each with a few figures; the first 1,000',
  role: 'VIEWER',
  input: NoInput,
  output: NodeCards,
  scope: () => ownScope,
  async run(ctx) {
    const { total, nodes } = await listVisibleNodes(ctx.db, viewerOf(ctx));
    const environmentIds = [...new Set(nodes.map(({ environmentId }) => environmentId))];
    const joined = await readStatusOfNodes(
      ctx,
      environmentIds,
      nodes.map(({ id }) => id),
    );
    const statuses = new Map(
      [...joined.values()].flatMap((one) => one.nodes.map((status) => [status.node.id, status])),
    );
    return {
      total,
      nodes: nodes.flatMap((node) => {
        const status = statuses.get(node.id);
        return status ? [cardOf(node, status)] : [];
      }),
    };
  },
});

function cardOf(node: NodeRef, status: NodeStatus): NodeCard {
  const { cpuPercent, memoryUsedBytes: used, memoryTotalBytes: all } = status.node.hostMetrics;
  return {
    ...node,
    name: status.node.name,
    status: status.health,
    statusReason: status.healthReason,
    maintenance: status.node.maintenance,
    cpuPercent: cpuPercent ?? null,
    memoryPercent: used !== undefined && all !== undefined && all > 0 ? (100 * used) / all : null,
    pipelinesDesired: status.desired,
    pipelinesRunning: status.running,
    pipelinesCrashed: status.crashed,
    lastHeartbeatAt: status.node.heardAt,
  };
}

export const pipelineCards = query({
  name: 'dashboard.pipelineCards',
  summary: 'The pipelines of an environment, each with its gate, where it runs and how fast',
  role: 'VIEWER',
  input: DashboardInput,
  output: PipelineCards,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const { pipelines } = await readStatus(ctx, input);
    return pipelines.map((status) => ({
      id: status.pipeline.id,
      name: status.pipeline.name,
      isDraft: status.pipeline.isDraft,
      managedBy: status.pipeline.managedBy,
      gate: status.gate,
      nodeCounts: status.counts,
      rates: status.rates,
      state: stateOf(status),
    }));
  },
});

export const operationalOverview = query({
  name: 'dashboard.operationalOverview',
  summary: 'Each of your environments: gate, nodes, pipelines, what is wrong, the last passes; the first 200',
  role: 'VIEWER',
  input: NoInput,
  output: OperationalOverview,
  scope: () => ownScope,
  async run(ctx) {
    const { total, environments } = await listVisibleEnvironments(ctx.db, viewerOf(ctx));
    return { total, environments: await readOverviews(ctx, environments) };
  },
});
