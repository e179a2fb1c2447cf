/** Rollouts by stages: some nodes get a version first, the others after a verdict. */
import Type, { type Static } from 'typebox';
import { Id, Input, LabelMap, Nullable, Text, Timestamp } from '../common.ts';
import { NodeHealth, NodePipelineStatus } from '../pipelines/on-nodes.ts';

export const ROLLOUT_STATUSES = [
  /** The canary nodes are on their way to the version. */
  'CANARY_DEPLOYED',
  /** All that can be reached run it; the window runs. */
  'HEALTH_CHECK',
  'BROADENED',
  'ROLLED_BACK',
] as const;
export const RolloutStatus = Type.Enum([...ROLLOUT_STATUSES]);
export type RolloutStatus = Static<typeof RolloutStatus>;

/** Sums over nodes of what happened since the window began. */
export const RolloutFigures = Type.Object({
  nodes: Type.Integer(),
  eventsIn: Type.Number(),
  eventsOut: Type.Number(),
  errors: Type.Number(),
  /** Lost without an error that is counted. */
  discarded: Type.Number(),
  /** Left out on purpose, by a filter or `abort`. Absent in verdicts of older versions. */
  filtered: Type.Optional(Type.Number()),
  crashes: Type.Integer(),
  /** Errors and discarded events of those that came in, 0 to 1; null where none came. */
  errorRate: Nullable(Type.Number()),
});
export type RolloutFigures = Static<typeof RolloutFigures>;

export const RolloutVerdict = Type.Object({
  /** waiting: the window runs. healthy, unhealthy: what the figures say. unsure: too few events to say. */
  verdict: Type.Enum(['waiting', 'healthy', 'unhealthy', 'unsure']),
  /** A sentence with the figures that decided. */
  message: Type.String(),
  canary: RolloutFigures,
  control: RolloutFigures,
  at: Timestamp,
});
export type RolloutVerdict = Static<typeof RolloutVerdict>;

/** How far one stage has come, seen from what nodes report. */
const Reached = Type.Object({
  total: Type.Integer(),
  /** Run the version that is meant for them. */
  onVersion: Type.Integer(),
  /** Silent, revoked or in maintenance: nobody waits for them. */
  unreachable: Type.Integer(),
  crashed: Type.Integer(),
});
export const RolloutNode = Type.Object({
  nodeId: Id,
  name: Type.String(),
  stage: Type.Enum(['canary', 'control']),
  /** What it should run and what it reports; null for nothing. */
  desiredVersion: Nullable(Type.Integer()),
  version: Nullable(Type.Integer()),
  status: NodePipelineStatus,
  health: NodeHealth,
});

export const RolloutSummary = Type.Object({
  id: Id,
  pipelineId: Id,
  environmentId: Id,
  status: RolloutStatus,
  canarySelector: LabelMap,
  healthCheckWindowMinutes: Type.Integer(),
  onPass: Type.Enum(['broaden', 'hold']),
  onFail: Type.Enum(['rollback', 'hold']),
  changelog: Type.String(),
  source: Type.Enum(['ui', 'git']),
  commit: Nullable(Type.String()),
  canaryVersionId: Id,
  canaryVersion: Type.Integer(),
  previousVersionId: Nullable(Id),
  previousVersion: Nullable(Type.Integer()),
  createdBy: Type.String(),
  createdAt: Timestamp,
  healthStartedAt: Nullable(Timestamp),
  /** When the window is over; null before it began. */
  healthEndsAt: Nullable(Timestamp),
  verdict: Nullable(RolloutVerdict),
  /** Why it waits for a person. */
  heldReason: Nullable(Type.String()),
  endedAt: Nullable(Timestamp),
  endedBy: Nullable(Type.String()),
  endReason: Nullable(Type.String()),
});
export type RolloutSummary = Static<typeof RolloutSummary>;
/** Newest first. */
export const RolloutList = Type.Array(RolloutSummary);

export const Rollout = Type.Object({
  ...RolloutSummary.properties,
  canary: Reached,
  control: Reached,
  /** Canary nodes first; those that are not where they should be before the others; at most 200. */
  nodes: Type.Array(RolloutNode),
});
export type Rollout = Static<typeof Rollout>;
export const ActiveRollout = Nullable(Rollout);

export const OfPipelineRollout = Input({ pipelineId: Id });
export const CreateRollout = Input({
  pipelineId: Id,
  canarySelector: LabelMap,
  healthCheckWindowMinutes: Type.Integer({ minimum: 1, maximum: 10_080 }),
  changelog: Text(2_000),
  onPass: Type.Optional(Type.Enum(['broaden', 'hold'], { default: 'broaden' })),
  onFail: Type.Optional(Type.Enum(['rollback', 'hold'], { default: 'rollback' })),
  /** Ends a rollout that is under way; the other nodes keep what they run. */
  supersede: Type.Optional(Type.Boolean({ default: false })),
});
export const WhichRollout = Input({
  rolloutId: Id,
  /** For the record; of a rollback also why git's spec is held. */
  reason: Type.Optional(Text(1_000)),
});
export const ChangedRollout = Type.Object({ rolloutId: Id, status: RolloutStatus });
