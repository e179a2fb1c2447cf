/** Requests to bring a pipeline from one environment into another. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Text, Timestamp } from '../common.ts';
import { PipelineName } from '../pipelines/pipelines.ts';
import { FieldChange } from './git-plan.ts';
import { CheckState, ForgeName } from './pull-requests.ts';

export const PROMOTION_STATUSES = [
  /** Waits for another member of the team. */
  'PENDING',
  'DEPLOYED',
  /** Waits until its pull request is merged, and what was merged is rolled out. */
  'AWAITING_PR_MERGE',
  'REJECTED',
  'CANCELLED',
] as const;
export const PromotionStatus = Type.Enum([...PROMOTION_STATUSES]);
export type PromotionStatus = Static<typeof PromotionStatus>;

export const PromotionPullRequest = Type.Object({
  number: Type.Integer(),
  state: Type.Enum(['open', 'merged', 'closed']),
  forge: ForgeName,
  /** Where people read it: on its forge, or here. */
  url: Type.String(),
  /** Of the target environment; null until somebody has looked. */
  check: Nullable(Type.Object({ state: CheckState, summary: Type.String() })),
});

export const Promotion = Type.Object({
  id: Id,
  status: PromotionStatus,
  /** The source; null once it was deleted. */
  pipelineId: Nullable(Id),
  pipelineName: Type.String(),
  /** Null once it was deleted; its name stays. */
  sourceEnvironmentId: Nullable(Id),
  sourceEnvironmentName: Type.String(),
  targetEnvironmentId: Id,
  targetEnvironmentName: Type.String(),
  /** Null until it exists there. */
  targetPipelineId: Nullable(Id),
  targetName: Type.String(),
  sourceVersion: Nullable(Type.Integer()),
  /** The version that it became. */
  targetVersion: Nullable(Type.Integer()),
  pullRequest: Nullable(PromotionPullRequest),
  requestedBy: Type.String(),
  requestedById: Nullable(Id),
  decidedBy: Nullable(Type.String()),
  note: Nullable(Type.String()),
  /** Why it is not done though it was approved or merged; null where nothing is in the way. */
  lastError: Nullable(Type.String()),
  createdAt: Timestamp,
  decidedAt: Nullable(Timestamp),
  deployedAt: Nullable(Timestamp),
  /** Names of nodes of the target that did not answer when it was deployed, and were not waited for; at most 100. */
  silentNodes: Type.Array(Type.String()),
});
export type Promotion = Static<typeof Promotion>;
/** Newest first. */
export const PromotionList = Type.Array(Promotion);

const Name = Type.Optional(PipelineName);
export const PromotionTarget = Input({ pipelineId: Id, targetEnvironmentId: Id, name: Name });

/** What stands in the way of a promotion, and what it would become. */
export const PromotionPreflight = Type.Object({
  canProceed: Type.Boolean(),
  outcome: Type.Enum(['PENDING', 'DEPLOYED', 'AWAITING_PR_MERGE']),
  targetName: Type.String(),
  /** Variables of secrets that the pipeline names and the target has not. */
  missingSecrets: Type.Array(Type.String()),
  /** A pipeline of that name is there: `same` is what was promoted before, or describes itself in git; it is updated. */
  nameCollision: Nullable(
    Type.Object({
      pipelineId: Nullable(Id),
      name: Type.String(),
      kind: Type.Enum(['updates', 'taken']),
      message: Type.String(),
    }),
  ),
  /** A promotion of the same that waits: this one would go on with it. */
  waiting: Nullable(
    Type.Object({ id: Id, status: PromotionStatus, pullRequest: Nullable(PromotionPullRequest) }),
  ),
  /** How the source does where it runs now. */
  sourceHealth: Type.Object({
    state: Type.Enum(['healthy', 'unhealthy', 'not-running']),
    message: Type.String(),
  }),
  /** Sentences: what else stands in the way. */
  blockers: Type.Array(Type.String()),
  /** What a person should know although nothing is wrong. */
  notes: Type.Array(Type.String()),
});
export type PromotionPreflight = Static<typeof PromotionPreflight>;

export const PreviewPromotion = Input({
  pipelineId: Id,
  /** One environment; without it, all of the team in which the pipeline is or to which it was promoted. */
  targetEnvironmentId: Type.Optional(Id),
  name: Name,
});
export const PromotionDiff = Type.Object({
  targetEnvironmentId: Id,
  targetEnvironmentName: Type.String(),
  /** Null where it would be new there. */
  targetPipelineId: Nullable(Id),
  targetName: Type.String(),
  /** The manifest there now and after; null where there is none, '' where nothing changes. */
  diff: Type.String(),
  /** Of the rendered engine config. */
  engineDiff: Nullable(Type.String()),
  fields: Type.Array(FieldChange),
  /** Fields that both sides changed since the last promotion: the source's value would win. */
  conflicts: Type.Array(Type.String()),
  /** Environment-local fields that stay as the target has them. */
  kept: Type.Array(Type.String()),
});
export const PromotionDiffs = Type.Object({ targets: Type.Array(PromotionDiff) });
export type PromotionDiffs = Static<typeof PromotionDiffs>;

export const InitiatedPromotion = Type.Object({
  requestId: Id,
  status: PromotionStatus,
  pullRequest: Nullable(PromotionPullRequest),
  targetPipelineId: Nullable(Id),
  /** It goes on with a promotion that waited already. */
  updated: Type.Boolean(),
});
/** SHA-256, in hex. */
const Digest = Type.String({
  pattern: worded('^[0-9a-f]{64}$', 'must be the digest that promotion.content gave'),
});
export const PromotionRequest = Input({ requestId: Id });
/** What waits for an approval, as it would change its target now. */
export const PromotionContent = Type.Object({
  requestId: Id,
  /** Names exactly what would ship: `promotion.approve` takes it. */
  digest: Digest,
  change: PromotionDiff,
});
export const ApprovePromotion = Input({
  requestId: Id,
  /** Of what was looked at: refused where something else would ship. */
  digest: Type.Optional(Digest),
});
export const RejectPromotion = Input({ requestId: Id, note: Type.Optional(Text(2_000)) });
export const DecidedPromotion = Type.Object({
  requestId: Id,
  status: PromotionStatus,
  targetPipelineId: Nullable(Id),
});
export const PromotionHistory = Input({ pipelineId: Id });
/** Into an environment or out of it. */
export const ListPromotions = Input({
  environmentId: Id,
  status: Type.Optional(PromotionStatus),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
});
