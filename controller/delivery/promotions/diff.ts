/** What a promotion would change, told before it is asked for. */
import type { PromotionDiffs } from '../../../schemas/api/promotions.ts';
import { maskSensitive, storedConfig, unifiedDiff } from '../../pipelines/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';
import type { StoredPipeline } from '../bindings/index.ts';
import type { ManifestPreview } from './gateway.ts';
import { listTargets } from './queries.ts';
import { contentFor, graphSnapshot } from './snapshot/ship-snapshot.ts';
import type { GraphSnapshot } from './snapshot/snapshot.ts';
import { storedPipeline } from './snapshot/stored-pipeline.ts';
import { promotedFrom, type Source } from './source.ts';
import { findWaiting, lastPromoted, type PromotionRecord } from './store.ts';
import { type Target, targetOf, targetOfRequest } from './target.ts';

type Diff = PromotionDiffs['targets'][number];

const MOST_CHARACTERS = 400_000;
const shortened = (diff: string): string =>
  diff.length <= MOST_CHARACTERS
    ? diff
    : `${diff.slice(0, diff.lastIndexOf('\n', MOST_CHARACTERS))}\n… and more\n`;

/** Of a target that git describes. @throws what the gateway throws */
export async function previewThroughGit(
  ctx: Context,
  from: Source,
  target: Target,
): Promise<ManifestPreview> {
  const { binding, id, name: targetName } = target;
  if (!binding) throw preconditionFailed('The environment is not bound to git');
  const wanted = { pipelineId: from.pipeline.id, targetEnvironmentId: id, targetName };
  const waits = await findWaiting(ctx.db, wanted);
  return ctx.services.promotions.preview(ctx, binding, {
    targetName,
    snapshot: await ctx.services.promotions.read(ctx, from, binding),
    base: await lastPromoted(ctx.db, wanted),
    waiting: waits?.status === 'AWAITING_PR_MERGE' ? waits : null,
  });
}

/** `all`: whether the reader may see credentials that are written out. */
export async function previewDiffs(
  ctx: Context,
  {
    pipelineId,
    targetEnvironmentId,
    name,
  }: { pipelineId: string; targetEnvironmentId?: string | undefined; name?: string | undefined },
  all: (target: Target) => boolean,
): Promise<PromotionDiffs> {
  const from = await promotedFrom(ctx, pipelineId);
  const environments = targetEnvironmentId ? [targetEnvironmentId] : await listTargets(ctx.db, pipelineId);
  const targets: Diff[] = [];
  for (const id of environments) {
    const target = await targetOf(ctx, from, id, name);
    targets.push(
      target.binding
        ? await inGit(ctx, from, target)
        : await here(ctx, from.pipeline, graphSnapshot(from.pipeline), target, all(target)),
    );
  }
  return { targets };
}

const named = (target: Target) => ({
  targetEnvironmentId: target.id,
  targetEnvironmentName: target.environmentName,
  targetPipelineId: target.pipeline?.id ?? null,
  targetName: target.name,
});

async function inGit(ctx: Context, from: Source, target: Target): Promise<Diff> {
  const { path, before, after, engine, fields, conflicts, kept } = await previewThroughGit(ctx, from, target);
  return {
    ...named(target),
    diff: shortened(unifiedDiff(before === null ? '/dev/null' : path, path, before ?? '', after)),
    engineDiff: engineDiff(engine.before, engine.after),
    ...{ fields, conflicts, kept },
  };
}

const engineDiff = (before: string, after: string | null): string | null => {
  const diff = after === null ? '' : unifiedDiff('runs', 'promoted', before, after);
  return diff === '' ? null : shortened(diff);
};

/** What waits for an approval, against its target as it is now. @throws what stands in the way of deciding on it */
export async function waitingDiff(ctx: Context, promotion: PromotionRecord, all: boolean): Promise<Diff> {
  const target = await targetOfRequest(ctx, promotion);
  const { snapshot, pipelineId } = promotion;
  if (snapshot.form !== 'graph' || pipelineId === null)
    throw conflict('It was changed meanwhile; look at it again');
  return here(ctx, await storedPipeline(ctx, pipelineId), snapshot, target, all);
}

async function here(
  ctx: Context,
  source: StoredPipeline,
  snapshot: GraphSnapshot,
  target: Target,
  all: boolean,
): Promise<Diff> {
  const there = target.pipeline && (await storedPipeline(ctx, target.pipeline.id));
  const { content, missing } = await contentFor(ctx, there?.id ?? null, snapshot);
  const after: StoredPipeline = {
    ...(there ?? { ...source, uid: null, deployed: null }),
    ...content,
    ...{
      name: target.name,
      dependsOn: [...new Set([...(there?.dependsOn ?? []), ...snapshot.dependsOn])],
      isDraft: false,
    },
  };
  const [old, made] = [there && shown(there, all), shown(after, all)];
  const told = ctx.services.promotions.compare(old, made);
  const own = snapshot.stripped.filter((pointer) => !missing.includes(pointer));
  return {
    ...named(target),
    diff: shortened(unifiedDiff(old ? target.name : '/dev/null', target.name, told.before ?? '', told.after)),
    engineDiff: engineDiff(old ? storedConfig(old) : '', storedConfig(made)),
    fields: told.fields,
    conflicts: [],
    kept: [...(there?.nodeSelector ? ['/spec/nodeSelector'] : []), ...own],
  };
}

const shown = (pipeline: StoredPipeline, all: boolean): StoredPipeline =>
  all
    ? pipeline
    : {
        ...pipeline,
        nodes: pipeline.nodes.map((node) => ({ ...node, config: maskSensitive(node.config) })),
        globalConfig: maskSensitive(pipeline.globalConfig),
      };
