/** The diff of a promotion: before it is requested, and while it waits for an approval. */
import type { PromotionDiffs } from '../../../schemas/api/delivery/promotions.ts';
import { maskSensitive, storedConfig, unifiedDiff } from '../../pipelines/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';
import type { StoredPipeline } from '../bindings/index.ts';
import type { ManifestPreview } from './gateway.ts';
import { listTargetEnvironments } from './promotion-queries.ts';
import { type ResolvedSource, resolveSource } from './resolve-source.ts';
import { type ResolvedTarget, resolveRequestTarget, resolveTarget } from './resolve-target.ts';
import { graphSnapshot, resolveContent } from './snapshot/ship-snapshot.ts';
import type { GraphSnapshot } from './snapshot/snapshot.ts';
import { getStoredPipeline } from './snapshot/stored-pipeline.ts';
import { findLastPromoted, findWaiting, type PromotionRecord } from './store.ts';

type Diff = PromotionDiffs['targets'][number];

const MAX_CHARACTERS = 400_000;
const truncateDiff = (diff: string): string =>
  diff.length <= MAX_CHARACTERS
    ? diff
    : `${diff.slice(0, diff.lastIndexOf('\n', MAX_CHARACTERS))}\n… and more\n`;

/** For a target that git describes. @throws what the gateway throws */
export async function previewManifest(
  ctx: Context,
  source: ResolvedSource,
  target: ResolvedTarget,
): Promise<ManifestPreview> {
  const { binding, id, name: targetName } = target;
  if (!binding) throw preconditionFailed('The environment is not bound to git');
  const key = { pipelineId: source.pipeline.id, targetEnvironmentId: id, targetName };
  const waiting = await findWaiting(ctx.db, key);
  return ctx.services.promotions.preview(ctx, binding, {
    targetName,
    snapshot: await ctx.services.promotions.read(ctx, source, binding),
    base: await findLastPromoted(ctx.db, key),
    waiting: waiting?.status === 'AWAITING_PR_MERGE' ? waiting : null,
  });
}

/** `showCredentials`: whether the reader may see literal credentials in the config. */
export async function previewDiffs(
  ctx: Context,
  {
    pipelineId,
    targetEnvironmentId,
    name,
  }: { pipelineId: string; targetEnvironmentId?: string | undefined; name?: string | undefined },
  showCredentials: (target: ResolvedTarget) => boolean,
): Promise<PromotionDiffs> {
  const source = await resolveSource(ctx, pipelineId);
  const environments = targetEnvironmentId
    ? [targetEnvironmentId]
    : await listTargetEnvironments(ctx.db, pipelineId);
  const targets: Diff[] = [];
  for (const id of environments) {
    const target = await resolveTarget(ctx, source, id, name);
    targets.push(
      target.binding
        ? await diffManifest(ctx, source, target)
        : await diffPipeline(
            ctx,
            source.pipeline,
            graphSnapshot(source.pipeline),
            target,
            showCredentials(target),
          ),
    );
  }
  return { targets };
}

const describeTarget = (target: ResolvedTarget) => ({
  targetEnvironmentId: target.id,
  targetEnvironmentName: target.environmentName,
  targetPipelineId: target.pipeline?.id ?? null,
  targetName: target.name,
});

async function diffManifest(ctx: Context, source: ResolvedSource, target: ResolvedTarget): Promise<Diff> {
  const {
    path,
    before,
    after,
    engine,
    fields,
    conflicts,
    retained: kept,
  } = await previewManifest(ctx, source, target);
  return {
    ...describeTarget(target),
    diff: truncateDiff(unifiedDiff(before === null ? '/dev/null' : path, path, before ?? '', after)),
    engineDiff: engineDiff(engine.before, engine.after),
    ...{ fields, conflicts, kept },
  };
}

const engineDiff = (before: string, after: string | null): string | null => {
  const diff = after === null ? '' : unifiedDiff('runs', 'promoted', before, after);
  return diff === '' ? null : truncateDiff(diff);
};

/** A promotion that waits for an approval, compared with its target now. @throws what blocks the approval */
export async function waitingDiff(
  ctx: Context,
  promotion: PromotionRecord,
  showCredentials: boolean,
): Promise<Diff> {
  const target = await resolveRequestTarget(ctx, promotion);
  const { snapshot, pipelineId } = promotion;
  if (snapshot.form !== 'graph' || pipelineId === null)
    throw conflict('The promotion was changed meanwhile; reload it');
  return diffPipeline(ctx, await getStoredPipeline(ctx, pipelineId), snapshot, target, showCredentials);
}

async function diffPipeline(
  ctx: Context,
  source: StoredPipeline,
  snapshot: GraphSnapshot,
  target: ResolvedTarget,
  showCredentials: boolean,
): Promise<Diff> {
  const current = target.pipeline && (await getStoredPipeline(ctx, target.pipeline.id));
  const { content, missing } = await resolveContent(ctx, current?.id ?? null, snapshot);
  const after: StoredPipeline = {
    ...(current ?? { ...source, uid: null, deployed: null }),
    ...content,
    ...{
      name: target.name,
      dependsOn: [...new Set([...(current?.dependsOn ?? []), ...snapshot.dependsOn])],
      isDraft: false,
    },
  };
  const [shownBefore, shownAfter] = [
    current && maskCredentials(current, showCredentials),
    maskCredentials(after, showCredentials),
  ];
  const comparison = ctx.services.promotions.compare(shownBefore, shownAfter);
  const targetOwned = snapshot.stripped.filter((pointer) => !missing.includes(pointer));
  return {
    ...describeTarget(target),
    diff: truncateDiff(
      unifiedDiff(
        shownBefore ? target.name : '/dev/null',
        target.name,
        comparison.before ?? '',
        comparison.after,
      ),
    ),
    engineDiff: engineDiff(shownBefore ? storedConfig(shownBefore) : '', storedConfig(shownAfter)),
    fields: comparison.fields,
    conflicts: [],
    kept: [...(current?.nodeSelector ? ['/spec/nodeSelector'] : []), ...targetOwned],
  };
}

const maskCredentials = (pipeline: StoredPipeline, showCredentials: boolean): StoredPipeline =>
  showCredentials
    ? pipeline
    : {
        ...pipeline,
        nodes: pipeline.nodes.map((node) => ({ ...node, config: maskSensitive(node.config) })),
        globalConfig: maskSensitive(pipeline.globalConfig),
      };
