/** What this room asks of the reconcilers above it, that read and write git; the composition root supplies it. */
import type { FieldChange } from '../../../schemas/api/git-plan.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Binding, StoredPipeline } from '../bindings/index.ts';
import type { ManifestSnapshot } from './snapshot/snapshot.ts';
import type { PromotionRecord } from './store.ts';

/** What a promotion would write into the target's repository. */
export interface ManifestPreview {
  path: string;
  /** The manifest there now; null where there is none. */
  before: string | null;
  after: string;
  fields: FieldChange[];
  /** Fields that both sides changed since the last promotion, in other ways: the source's value goes in. */
  conflicts: string[];
  /** What stays as the target has it, and why. */
  kept: string[];
  /** What a person should do or check before it is merged. */
  notes: string[];
  /** Rendered; null where the manifest cannot be read that far. */
  engine: { before: string; after: string | null };
}

export interface ManifestRequest {
  targetName: string;
  snapshot: ManifestSnapshot;
  /** What was promoted last; null where that was never. */
  base: ManifestSnapshot | null;
  /** Of a promotion that waits: what its branch holds is gone on with. */
  waiting: Pick<PromotionRecord, 'branch' | 'written'> | null;
}

/** What there is to be reviewed. */
export interface PushedPromotion {
  headSha: string;
  /** The last commit of ours; null where nothing had to be pushed. */
  pushedSha: string | null;
  title: string;
  /** In Markdown. */
  body: string;
}

export interface PromotionGateway {
  /**
   * The source as a manifest of the target's repository would say it.
   * @throws PRECONDITION_FAILED where it holds something that may not stand in git
   */
  read(
    ctx: Context,
    source: { pipeline: StoredPipeline; environmentId: string },
    target: Binding,
  ): Promise<ManifestSnapshot>;
  /** Of two that git does not describe: how manifests would say them, and what differs. */
  compare(
    before: StoredPipeline | null,
    after: StoredPipeline,
  ): { before: string | null; after: string; fields: FieldChange[] };
  /** Nothing is written. @throws PRECONDITION_FAILED where the manifest there cannot be read or edited */
  preview(ctx: Context, target: Binding, wanted: ManifestRequest): Promise<ManifestPreview>;
  /**
   * Brings the branch to what the promotion says, never by force. May be repeated: what was done already is found. `base` is
   * what was promoted before.
   * @throws PRECONDITION_FAILED, CONFLICT, UNAVAILABLE with what to do
   */
  push(
    ctx: Context,
    target: Binding,
    promotion: PromotionRecord,
    base: ManifestSnapshot | null,
  ): Promise<PushedPromotion>;
  /** Opens the pull request of the branch, or brings that up to date. @throws PRECONDITION_FAILED, UNAVAILABLE */
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
