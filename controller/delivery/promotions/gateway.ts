/** The interface to the reconcilers, which read and write git. The composition root supplies the implementation. */
import type { FieldChange } from '../../../schemas/api/delivery/git-plan.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Binding, StoredPipeline } from '../bindings/index.ts';
import type { ManifestSnapshot } from './snapshot/snapshot.ts';
import type { PromotionRecord } from './store.ts';

/** What a promotion would write into the target's repository. */
export interface ManifestPreview {
  path: string;
  /** The current manifest; null where there is none. */
  before: string | null;
  after: string;
  fields: FieldChange[];
  /** Fields that both sides changed differently since the last promotion: the source's value is written. */
  conflicts: string[];
  /** JSON pointers to fields that keep the value of the target. */
  retained: string[];
  /** What reviewers should do or check before they merge. */
  notes: string[];
  /** Engine config; `after` is null where the manifest is not valid enough to compile. */
  engine: { before: string; after: string | null };
}

export interface ManifestRequest {
  targetName: string;
  snapshot: ManifestSnapshot;
  /** The last promoted snapshot; null for the first promotion. */
  base: ManifestSnapshot | null;
  /** The waiting promotion, whose branch the preview continues. */
  waiting: Pick<PromotionRecord, 'branch' | 'written'> | null;
}

/** A pushed branch, with the texts of its pull request. */
export interface PushedPromotion {
  headSha: string;
  /** Headgate's own last commit; null where nothing had to be pushed. */
  pushedSha: string | null;
  title: string;
  /** In Markdown. */
  body: string;
}

export interface PromotionGateway {
  /** Serializes the writers of one promotion's branch within this controller, so that they open one pull request. */
  serialize<T>(promotionId: string, write: () => Promise<T>): Promise<T>;
  /**
   * The source in the form of a manifest in the target's repository.
   * @throws PRECONDITION_FAILED where the source holds something that is not allowed in git
   */
  read(
    ctx: Context,
    source: { pipeline: StoredPipeline; environmentId: string },
    target: Binding,
  ): Promise<ManifestSnapshot>;
  /** Compares two pipelines that git does not describe, in the form of manifests. */
  compare(
    before: StoredPipeline | null,
    after: StoredPipeline,
  ): { before: string | null; after: string; fields: FieldChange[] };
  /** Writes nothing. @throws PRECONDITION_FAILED where the current manifest cannot be read or edited */
  preview(ctx: Context, target: Binding, request: ManifestRequest): Promise<ManifestPreview>;
  /**
   * Makes the branch equal to the promotion, without a forced push. Idempotent. `base` is the last promoted snapshot.
   * @throws PRECONDITION_FAILED, CONFLICT, UNAVAILABLE with what to do
   */
  push(
    ctx: Context,
    target: Binding,
    promotion: PromotionRecord,
    base: ManifestSnapshot | null,
  ): Promise<PushedPromotion>;
  /** Opens the pull request of the branch, or updates it. @throws PRECONDITION_FAILED, UNAVAILABLE */
  open(
    ctx: Context,
    target: Binding,
    promotion: PromotionRecord,
    pushed: PushedPromotion,
  ): Promise<{ pullRequestId: string }>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    promotions: PromotionGateway;
  }
}
