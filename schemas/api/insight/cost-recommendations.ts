/** Recommendations that lower what an environment moves, and so what it pays. */
import Type, { type Static } from 'typebox';
import { Id, Input, Nullable, Timestamp } from '../common.ts';
import { Proposed } from '../delivery/git-words.ts';

export const RECOMMENDATION_TYPES = [
  'LOW_REDUCTION',
  'HIGH_ERROR_RATE',
  'STALE_PIPELINE',
  'HIGH_CARDINALITY',
] as const;
export const RecommendationType = Type.Enum([...RECOMMENDATION_TYPES]);
export type RecommendationType = Static<typeof RecommendationType>;

export const RECOMMENDATION_STATUSES = ['PENDING', 'DISMISSED', 'APPLIED'] as const;
export const RecommendationStatus = Type.Enum([...RECOMMENDATION_STATUSES]);
export type RecommendationStatus = Static<typeof RecommendationStatus>;

/** What was measured over `hours`. Sums over all nodes. */
export const RecommendationFigures = Type.Object({
  hours: Type.Number(),
  eventsIn: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  errors: Type.Number(),
  /** The sink that it is about; null where it is about the whole pipeline. */
  sink: Nullable(Type.String()),
  /** What that sink sent. */
  sinkBytes: Type.Number(),
  /** HIGH_CARDINALITY: fields whose values become tags. */
  fields: Type.Array(Type.String()),
});
export type RecommendationFigures = Static<typeof RecommendationFigures>;

/** What `costRecommendation.apply` does. */
export const RecommendedChange = Type.Union([
  /** A transform goes in front of a sink and takes over its inputs. */
  Type.Object({
    action: Type.Literal('insertTransform'),
    sink: Type.String(),
    componentKey: Type.String(),
    componentType: Type.String(),
    config: Type.Record(Type.String(), Type.Unknown()),
  }),
  /** The pipeline becomes a draft; its graph and versions stay. */
  Type.Object({ action: Type.Literal('undeploy') }),
]);
export type RecommendedChange = Static<typeof RecommendedChange>;

const RECOMMENDATION = {
  id: Id,
  environmentId: Id,
  pipelineId: Id,
  pipelineName: Type.String(),
  managedBy: Type.Enum(['ui', 'git']),
  type: RecommendationType,
  status: RecommendationStatus,
  title: Type.String(),
  explanation: Type.String(),
  figures: RecommendationFigures,
  /** In 30 days, at the rate that was measured. Null where it cannot be known. */
  savedBytesPerMonth: Nullable(Type.Number()),
  /** The same in money; null without a price of the environment. */
  savedCostPerMonth: Nullable(Type.Number()),
  /** Null where no change can be made by itself; the explanation says what to look at. */
  change: Nullable(RecommendedChange),
  /** The change as a pull request, where git describes the pipeline. */
  pullRequest: Nullable(
    Type.Object({
      number: Type.Integer(),
      url: Type.String(),
      state: Type.Enum(['open', 'merged', 'closed']),
    }),
  ),
  /** The version that was created with the change, where the UI owns the pipeline. */
  appliedVersion: Nullable(Type.Integer()),
  createdAt: Timestamp,
  /** When its figures were measured. */
  analyzedAt: Timestamp,
  resolvedAt: Nullable(Timestamp),
  /** Who dismissed or applied it. */
  resolvedBy: Nullable(Type.String()),
};
export const CostRecommendation = Type.Object(RECOMMENDATION);
export type CostRecommendation = Static<typeof CostRecommendation>;

export const MAX_RECOMMENDATIONS = 200;
export const ListRecommendations = Input({
  environmentId: Id,
  status: Type.Optional(RecommendationStatus),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RECOMMENDATIONS, default: 50 })),
});
export const RecommendationList = Type.Object({
  /** Those that save the most first. */
  recommendations: Type.Array(CostRecommendation),
  /** How many there are. */
  total: Type.Integer(),
});
export type RecommendationList = Static<typeof RecommendationList>;

export const RecommendationId = Input({ environmentId: Id, id: Id });
export type RecommendationId = Static<typeof RecommendationId>;
export const CostRecommendationDetail = Type.Object({
  ...RECOMMENDATION,
  /** The change of the manifest as a unified diff, credentials masked; null where there is none to make. */
  diff: Nullable(Type.String()),
});
export type CostRecommendationDetail = Static<typeof CostRecommendationDetail>;

export const OfEnvironment = Input({ environmentId: Id });
const COUNTS = { pending: Type.Integer(), dismissed: Type.Integer(), applied: Type.Integer() };
export const RecommendationSummary = Type.Object({
  ...COUNTS,
  /** All four, in the order of their names above. */
  byType: Type.Array(Type.Object({ type: RecommendationType, ...COUNTS })),
  /** Of the pending ones, of several about one pipeline the largest. */
  savedBytesPerMonth: Type.Number(),
  savedCostPerMonth: Nullable(Type.Number()),
  pricePerGb: Nullable(Type.Number()),
  /** Null before the first analysis. */
  analyzedAt: Nullable(Timestamp),
});
export type RecommendationSummary = Static<typeof RecommendationSummary>;

export const AnalysisResult = Type.Object({
  /** Pipelines that were looked at: those that are deployed. */
  pipelines: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  /** No longer true, and deleted. */
  removed: Type.Integer(),
});
export type AnalysisResult = Static<typeof AnalysisResult>;

/** Of a pipeline that git describes: the pull request. */
export const AppliedRecommendation = Type.Union([
  Type.Object({
    recommendation: CostRecommendation,
    applied: Type.Union([
      /** Saved as a new version; what runs stays until it is deployed. */
      Type.Object({
        action: Type.Literal('versionCreated'),
        versionId: Id,
        versionNumber: Type.Integer(),
        deployed: Type.Literal(false),
      }),
      /** Nodes stop it at their next poll. */
      Type.Object({ action: Type.Literal('undeployed') }),
    ]),
  }),
  Proposed,
]);
