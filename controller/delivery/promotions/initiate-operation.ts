/** `promotion.initiate`: takes a snapshot of the source, and deploys it, opens a pull request or waits for an approval. */
import {
  InitiatedPromotion,
  type Promotion,
  PromotionTarget,
} from '../../../schemas/api/delivery/promotions.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { ShippedContent } from '../../pipelines/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { conflict, forbidden, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import type { Binding } from '../bindings/index.ts';
import { notifyUi, wakeLoops } from './notify-ui.ts';
import {
  type ManifestPromotion,
  openForCaller,
  type RecordedRequest,
  recordRequest,
} from './open-pull-request.ts';
import { presentPromotionById } from './promotion-view.ts';
import { type ResolvedSource, resolveScopes, resolveSource } from './resolve-source.ts';
import { assertTarget, type ResolvedTarget, resolveTarget } from './resolve-target.ts';
import { checkSnapshot, graphSnapshot, shipSnapshot } from './snapshot/ship-snapshot.ts';
import type { GraphSnapshot } from './snapshot/snapshot.ts';
import { readSourceHealth } from './source-health.ts';
import {
  findWaiting,
  insertPromotion,
  lockPromotion,
  type NewPromotion,
  type PromotionRecord,
  updatePromotion,
} from './store.ts';

type Prepared =
  | { delivery: 'git'; binding: Binding; request: ManifestPromotion; recorded: RecordedRequest | null }
  | {
      delivery: 'direct';
      source: ResolvedSource;
      target: ResolvedTarget;
      request: NewPromotion & { snapshot: GraphSnapshot };
      /** The checked content; null where an approval comes first. */
      checked: ShippedContent | null;
    };

export const initiate = mutation({
  name: 'promotion.initiate',
  summary:
    'Bring a pipeline into another environment: by a pull request where git describes that, else at once or after an approval',
  role: 'EDITOR',
  audit: 'promotion.initiated',
  input: PromotionTarget,
  output: InitiatedPromotion,
  scope: async (ctx, input) => (await resolveScopes(ctx, input)).source,
  async prepare(ctx, { pipelineId, targetEnvironmentId, name }): Promise<Prepared> {
    if (!allows(ctx.actor, await environmentScope(ctx, targetEnvironmentId), { role: 'EDITOR' }))
      throw forbidden('This needs the role EDITOR in the team of the target environment');
    const source = await resolveSource(ctx, pipelineId);
    const target = await resolveTarget(ctx, source, targetEnvironmentId, name);
    assertTarget(target);
    const { latestVersion } = await readSourceHealth(ctx, source.environmentId, pipelineId);
    const common = {
      pipelineId,
      sourceEnvironmentId: source.environmentId,
      sourceEnvironmentName: source.environmentName,
      targetEnvironmentId,
      pipelineName: source.pipeline.name,
      targetName: target.name,
      status: target.outcome,
      sourceVersion: latestVersion,
      requestedById: ctx.actor.type === 'user' ? ctx.actor.userId : null,
      requestedBy: nameOfActor(ctx.actor),
    };
    if (target.binding) {
      const { binding } = target;
      const snapshot = await ctx.services.promotions.read(ctx, source, binding);
      return { delivery: 'git', binding, request: { ...common, snapshot }, recorded: null };
    }
    const snapshot = graphSnapshot(source.pipeline);
    const checked = target.outcome === 'DEPLOYED' ? await checkSnapshot(ctx, target, snapshot) : null;
    return { delivery: 'direct', source, target, request: { ...common, snapshot }, checked };
  },
  isProposal: ({ status }) => status !== 'DEPLOYED',
  async run(ctx, { targetEnvironmentId, name }, prepared) {
    const { id, updated } =
      prepared.delivery === 'git'
        ? await recordGitRequest(ctx, prepared)
        : await promoteDirectly(ctx, prepared, targetEnvironmentId, name);
    const promotion = await presentPromotionById(ctx, id);
    ctx.audit({
      entityType: 'Promotion',
      entityId: id,
      environmentId: targetEnvironmentId,
      metadata: {
        ...{
          pipeline: promotion.pipelineName,
          name: promotion.targetName,
          status: promotion.status,
          updated,
        },
        ...{ from: promotion.sourceEnvironmentName, to: promotion.targetEnvironmentName },
        ...{ version: promotion.sourceVersion, pullRequest: promotion.pullRequest?.number ?? null },
      },
    });
    await notifyUi(ctx, promotion);
    if (promotion.status === 'AWAITING_PR_MERGE') await wakeLoops(ctx, promotion);
    return initiationResult(promotion, updated);
  },
  async finish(ctx, _input, { output, prepared, write }) {
    if (prepared.delivery !== 'git' || prepared.recorded === null) return output;
    const { binding, request, recorded } = prepared;
    await openForCaller(ctx, write, binding, { ...recorded, snapshot: request.snapshot });
    return initiationResult(await presentPromotionById(ctx, recorded.id), output.updated);
  },
});

const initiationResult = (
  { id: requestId, status, pullRequest, targetPipelineId }: Promotion,
  updated: boolean,
) => ({ requestId, status, pullRequest, targetPipelineId, updated });

async function recordGitRequest(
  ctx: MutationContext,
  prepared: Extract<Prepared, { delivery: 'git' }>,
): Promise<{ id: string; updated: boolean }> {
  prepared.recorded = await recordRequest(ctx, prepared.request);
  const { id, before } = prepared.recorded;
  return { id, updated: before !== null };
}

async function promoteDirectly(
  ctx: MutationContext,
  { source, target, request, checked }: Extract<Prepared, { delivery: 'direct' }>,
  targetEnvironmentId: string,
  name: string | undefined,
): Promise<{ id: string; updated: boolean }> {
  const current = await resolveTarget(ctx, source, targetEnvironmentId, name);
  assertTarget(current);
  if (current.outcome !== target.outcome || current.pipeline?.id !== target.pipeline?.id)
    throw conflict('The target changed during the check; try again');
  const { id, updated } = await recordDirectRequest(ctx, request, current);
  if (checked === null) return { id, updated };
  const { sourceVersion, snapshot } = request;
  const { pipelineId, version } = await shipSnapshot(
    ctx,
    current,
    { snapshot, checked },
    { promotionId: id, sourceEnvironmentName: source.environmentName, sourceVersion },
  );
  const deployedAt = new Date(ctx.clock.now());
  await updatePromotion(ctx.db, id, { targetPipelineId: pipelineId, targetVersion: version, deployedAt });
  return { id, updated };
}

/** Inserts the request, or updates the waiting one for the same pipeline and target. */
async function recordDirectRequest(
  ctx: MutationContext,
  request: NewPromotion & { snapshot: GraphSnapshot },
  target: ResolvedTarget,
): Promise<{ id: string; updated: boolean }> {
  const waiting = await lockWaiting(ctx, request);
  if (waiting) return updateWaiting(ctx, waiting, request, target);
  const insertedId = await insertPromotion(ctx.db, {
    ...request,
    targetPipelineId: target.pipeline?.id ?? null,
  });
  if (insertedId !== null) return { id: insertedId, updated: false };
  // A concurrent request was inserted first.
  const other = await lockWaiting(ctx, request);
  if (!other) throw conflict('Another user decides on this promotion at the moment; try again');
  return updateWaiting(ctx, other, request, target);
}

async function lockWaiting(ctx: MutationContext, request: NewPromotion): Promise<PromotionRecord | null> {
  const found = await findWaiting(ctx.db, request);
  const locked = found && (await lockPromotion(ctx.db, found.id));
  return locked && locked.status === found.status ? locked : null;
}

async function updateWaiting(
  ctx: MutationContext,
  waiting: PromotionRecord,
  request: NewPromotion & { snapshot: GraphSnapshot },
  target: ResolvedTarget,
): Promise<{ id: string; updated: boolean }> {
  if (waiting.status === 'AWAITING_PR_MERGE')
    throw preconditionFailed(
      `An earlier promotion of this pipeline waits for its pull request, but git no longer describes ${target.environmentName}; cancel that promotion first`,
    );
  const { snapshot, status, sourceVersion, requestedBy, requestedById } = request;
  await updatePromotion(ctx.db, waiting.id, {
    ...{ snapshot, status, sourceVersion, requestedBy, requestedById, lastError: null },
    targetPipelineId: target.pipeline?.id ?? null,
  });
  return { id: waiting.id, updated: true };
}
