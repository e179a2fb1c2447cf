/** The first step of a promotion: what it carries is taken, and what becomes of it follows from where it goes. */
import { InitiatedPromotion, PromotionTarget } from '../../../schemas/api/promotions.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { ShippedContent } from '../../pipelines/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { conflict, forbidden, preconditionFailed } from '../../platform/operation/errors.ts';
import { allows, mutation } from '../../platform/operation/operation.ts';
import { notifyUi, wakeLoops } from './notify.ts';
import { presentPromotionById } from './promotion-view.ts';
import { checkSnapshot, graphSnapshot, shipSnapshot } from './snapshot/ship-snapshot.ts';
import type { GraphSnapshot } from './snapshot/snapshot.ts';
import { bothScopes, promotedFrom, type Source } from './source.ts';
import { sourceHealth } from './source-health.ts';
import {
  findWaiting,
  insertPromotion,
  lockPromotion,
  type NewPromotion,
  type PromotionRecord,
  updatePromotion,
} from './store.ts';
import { assertTarget, type Target, targetOf } from './target.ts';
import { requestThroughGit } from './through-git.ts';

type Prepared =
  | { through: 'git'; id: string; updated: boolean }
  | {
      through: 'here';
      from: Source;
      target: Target;
      asked: NewPromotion & { snapshot: GraphSnapshot };
      /** As it was found sound, of what is deployed at once. */
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
  scope: async (ctx, input) => (await bothScopes(ctx, input)).source,
  async prepare(ctx, { pipelineId, targetEnvironmentId, name }): Promise<Prepared> {
    if (!allows(ctx.actor, await environmentScope(ctx, targetEnvironmentId), { role: 'EDITOR' }))
      throw forbidden('This needs the role EDITOR in the team of the target environment');
    const from = await promotedFrom(ctx, pipelineId);
    const target = await targetOf(ctx, from, targetEnvironmentId, name);
    assertTarget(target);
    const { latestVersion } = await sourceHealth(ctx, from.environmentId, pipelineId);
    const common = {
      pipelineId,
      sourceEnvironmentId: from.environmentId,
      sourceEnvironmentName: from.environmentName,
      targetEnvironmentId,
      pipelineName: from.pipeline.name,
      targetName: target.name,
      status: target.outcome,
      sourceVersion: latestVersion,
      requestedById: ctx.actor.type === 'user' ? ctx.actor.userId : null,
      requestedBy: nameOfActor(ctx.actor),
    };
    if (target.binding) {
      const snapshot = await ctx.services.promotions.read(ctx, from, target.binding);
      return { through: 'git', ...(await requestThroughGit(ctx, target.binding, { ...common, snapshot })) };
    }
    const snapshot = graphSnapshot(from.pipeline);
    const checked = target.outcome === 'DEPLOYED' ? await checkSnapshot(ctx, target, snapshot) : null;
    return { through: 'here', from, target, asked: { ...common, snapshot }, checked };
  },
  async run(ctx, { targetEnvironmentId, name }, prepared) {
    const { id, updated } =
      prepared.through === 'git' ? prepared : await ask(ctx, prepared, targetEnvironmentId, name);
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
    return {
      requestId: id,
      status: promotion.status,
      pullRequest: promotion.pullRequest,
      targetPipelineId: promotion.targetPipelineId,
      updated,
    };
  },
});

async function ask(
  ctx: MutationContext,
  { from, target, asked, checked }: Extract<Prepared, { through: 'here' }>,
  targetEnvironmentId: string,
  name: string | undefined,
): Promise<{ id: string; updated: boolean }> {
  const now = await targetOf(ctx, from, targetEnvironmentId, name);
  assertTarget(now);
  if (now.outcome !== target.outcome || now.pipeline?.id !== target.pipeline?.id)
    throw conflict('The target was changed while this was being checked; try again');
  const { id, updated } = await noteAsked(ctx, asked, now);
  if (checked === null) return { id, updated };
  const { sourceVersion, snapshot } = asked;
  const { pipelineId, version } = await shipSnapshot(
    ctx,
    now,
    { snapshot, checked },
    { promotionId: id, sourceEnvironmentName: from.environmentName, sourceVersion },
  );
  const deployedAt = new Date(ctx.clock.now());
  await updatePromotion(ctx.db, id, { targetPipelineId: pipelineId, targetVersion: version, deployedAt });
  return { id, updated };
}

/** The request; one that waits already becomes this one. */
async function noteAsked(
  ctx: MutationContext,
  asked: NewPromotion & { snapshot: GraphSnapshot },
  target: Target,
): Promise<{ id: string; updated: boolean }> {
  const waits = await waitingLocked(ctx, asked);
  if (waits) return goOnWith(ctx, waits, asked, target);
  const made = await insertPromotion(ctx.db, { ...asked, targetPipelineId: target.pipeline?.id ?? null });
  if (made !== null) return { id: made, updated: false };
  // Somebody asked for the same at the same moment.
  const other = await waitingLocked(ctx, asked);
  if (!other) throw conflict('Others decide on the same promotion at this moment; try again');
  return goOnWith(ctx, other, asked, target);
}

async function waitingLocked(ctx: MutationContext, asked: NewPromotion): Promise<PromotionRecord | null> {
  const found = await findWaiting(ctx.db, asked);
  const locked = found && (await lockPromotion(ctx.db, found.id));
  return locked && locked.status === found.status ? locked : null;
}

async function goOnWith(
  ctx: MutationContext,
  waits: PromotionRecord,
  asked: NewPromotion & { snapshot: GraphSnapshot },
  target: Target,
): Promise<{ id: string; updated: boolean }> {
  if (waits.status === 'AWAITING_PR_MERGE')
    throw preconditionFailed(
      `A promotion of this waits for its pull request, and git does not describe ${target.environmentName} any more; cancel that one first`,
    );
  const { snapshot, status, sourceVersion, requestedBy, requestedById } = asked;
  await updatePromotion(ctx.db, waits.id, {
    ...{ snapshot, status, sourceVersion, requestedBy, requestedById, lastError: null },
    targetPipelineId: target.pipeline?.id ?? null,
  });
  return { id: waits.id, updated: true };
}
