/** What people look at first: sums over environments, and what is wrong in them. */
import Type, { type Static } from 'typebox';
import { Gate, Id, Input, Nullable, Timestamp } from '../common.ts';
import { CommitInfo, GitJob } from '../delivery/git-sync.ts';
import { GitMode } from '../fleet/environments.ts';
import { NodeHealth, Rates } from '../pipelines/on-nodes.ts';
import { PipelineSummary } from '../pipelines/pipelines.ts';

export const MAX_NODE_CARDS = 1_000;
/** Environments of one overview; the others are only counted. */
export const MAX_OVERVIEW_ENVIRONMENTS = 200;
export const MAX_PROBLEMS = 20;
export const MAX_PASSES = 5;

/** One word for a pipeline over all its nodes: the worst that happens anywhere. */
export const PIPELINE_STATES = ['draft', 'crashed', 'idle', 'running', 'stopped', 'held', 'moving'] as const;
export const PipelineState = Type.Enum([...PIPELINE_STATES]);
export type PipelineState = Static<typeof PipelineState>;

export const PipelineCounts = Type.Object({
  total: Type.Integer(),
  draft: Type.Integer(),
  crashed: Type.Integer(),
  /** Deployed, and no node should run it. */
  idle: Type.Integer(),
  running: Type.Integer(),
  stopped: Type.Integer(),
  held: Type.Integer(),
  moving: Type.Integer(),
});
export type PipelineCounts = Static<typeof PipelineCounts>;

export const NodeCounts = Type.Object({
  total: Type.Integer(),
  healthy: Type.Integer(),
  degraded: Type.Integer(),
  unreachable: Type.Integer(),
  /** Never heard. */
  unknown: Type.Integer(),
  /** Of all these. */
  maintenance: Type.Integer(),
});
export type NodeCounts = Static<typeof NodeCounts>;

const Place = { environmentId: Id, environmentName: Type.String(), teamId: Id };

export const DashboardInput = Input({ environmentId: Id });
export const DashboardStats = Type.Object({
  environmentId: Id,
  nodes: NodeCounts,
  pipelines: PipelineCounts,
  rates: Rates,
  alertRules: Type.Object({ total: Type.Integer(), enabled: Type.Integer() }),
  /** Pipelines whose running version was deployed in the last 24 hours. */
  recentDeploys: Type.Object({
    total: Type.Integer(),
    /** The last ten, newest first. */
    latest: Type.Array(
      Type.Object({
        pipelineId: Id,
        name: Type.String(),
        version: Nullable(Type.Integer()),
        commit: Nullable(Type.String()),
        deployedAt: Timestamp,
      }),
    ),
  }),
});
export type DashboardStats = Static<typeof DashboardStats>;

export const RecentPipeline = Type.Object({
  id: Id,
  name: Type.String(),
  ...Place,
  isDraft: Type.Boolean(),
  managedBy: Type.Enum(['ui', 'git']),
  deployedVersionNumber: Nullable(Type.Integer()),
  updatedAt: Timestamp,
});
export type RecentPipeline = Static<typeof RecentPipeline>;
/** Newest first. */
export const RecentPipelines = Type.Array(RecentPipeline, { maxItems: 5 });

/** Who did what; without what it was changed from and to, and from where. */
export const RecentAuditEntry = Type.Object({
  id: Id,
  actorType: Type.Enum(['user', 'service_account', 'git', 'scim', 'system']),
  userId: Nullable(Type.String()),
  userEmail: Nullable(Type.String()),
  action: Type.String(),
  entityType: Type.String(),
  entityId: Nullable(Type.String()),
  /** What it is called, where the entry says so. */
  entityName: Nullable(Type.String()),
  teamId: Nullable(Type.String()),
  environmentId: Nullable(Type.String()),
  commitSha: Nullable(Type.String()),
  createdAt: Timestamp,
});
export type RecentAuditEntry = Static<typeof RecentAuditEntry>;
/** Newest first. */
export const RecentAudit = Type.Array(RecentAuditEntry, { maxItems: 10 });

export const NodeCard = Type.Object({
  id: Id,
  name: Type.String(),
  ...Place,
  status: NodeHealth,
  statusReason: Type.String(),
  maintenance: Type.Boolean(),
  /** Of all its processors; null before the second heartbeat. */
  cpuPercent: Nullable(Type.Number()),
  memoryPercent: Nullable(Type.Number()),
  pipelinesDesired: Type.Integer(),
  pipelinesRunning: Type.Integer(),
  pipelinesCrashed: Type.Integer(),
  lastHeartbeatAt: Nullable(Timestamp),
});
export type NodeCard = Static<typeof NodeCard>;
export const NodeCards = Type.Object({
  /** All there are; `nodes` holds the first 1,000 by environment and name. */
  total: Type.Integer(),
  nodes: Type.Array(NodeCard, { maxItems: MAX_NODE_CARDS }),
});

const { id, name, isDraft, managedBy, gate, nodeCounts, rates } = PipelineSummary.properties;
export const PipelineCard = Type.Object({
  ...{ id, name, isDraft, managedBy, gate, nodeCounts, rates },
  state: PipelineState,
});
/** By name. */
export const PipelineCards = Type.Array(PipelineCard);

export const PROBLEM_KINDS = ['pipeline', 'node', 'git', 'manifest', 'alert'] as const;
export const Problem = Type.Object({
  key: Type.String(),
  kind: Type.Enum([...PROBLEM_KINDS]),
  /** That of the pipeline, the node or the alert event; null for the others. */
  id: Nullable(Id),
  /** Of a manifest. */
  path: Nullable(Type.String()),
  line: Nullable(Type.Integer()),
  tone: Type.Enum(['failed', 'held']),
  title: Type.String(),
  note: Type.String(),
  /** Larger is worse: data lost now, then data at risk, then changes that do not arrive. */
  harm: Type.Number(),
});
export type Problem = Static<typeof Problem>;

export const Pass = Type.Object({
  ...{ id: GitJob.properties.id, status: GitJob.properties.status, outcome: GitJob.properties.outcome },
  ...{ trigger: GitJob.properties.trigger, counts: GitJob.properties.counts },
  commit: Nullable(CommitInfo),
  error: Nullable(Type.String()),
  queuedAt: Timestamp,
  finishedAt: Nullable(Timestamp),
});
export type Pass = Static<typeof Pass>;

export const EnvironmentOverview = Type.Object({
  ...Place,
  teamName: Type.String(),
  git: Type.Object({
    mode: GitMode,
    branch: Nullable(Type.String()),
    path: Nullable(Type.String()),
    suspended: Type.Boolean(),
  }),
  /** The strips of its pipelines, summed up. */
  gate: Gate,
  nodes: NodeCounts,
  pipelines: PipelineCounts,
  rates: Rates,
  /** All there are; `problems` holds the 20 worst. */
  problemCount: Type.Integer(),
  problems: Type.Array(Problem, { maxItems: MAX_PROBLEMS }),
  /** The last five, newest first. */
  passes: Type.Array(Pass, { maxItems: MAX_PASSES }),
});
export type EnvironmentOverview = Static<typeof EnvironmentOverview>;
export const OperationalOverview = Type.Object({
  /** Environments that there are; `environments` holds the first 200 by team and name. */
  total: Type.Integer(),
  environments: Type.Array(EnvironmentOverview, { maxItems: MAX_OVERVIEW_ENVIRONMENTS }),
});
