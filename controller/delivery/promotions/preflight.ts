/** What stands in the way of a promotion, before anybody asks for it. */
import type { PromotionPreflight } from '../../../schemas/api/promotions.ts';
import { checkNodeTypes, missingVariables, storedConfig } from '../../pipelines/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { DomainError } from '../../platform/operation/errors.ts';
import { previewThroughGit } from './diff.ts';
import { presentPromotion } from './promotion-view.ts';
import { readPromotion } from './queries.ts';
import { contentFor, credentialHints, graphSnapshot } from './snapshot/ship-snapshot.ts';
import { promotedFrom, type Source } from './source.ts';
import { type SourceHealth, sourceHealth } from './source-health.ts';
import { findWaiting } from './store.ts';
import { describeRollout, type Target, targetOf } from './target.ts';

const MOST_NOTES = 50;

export async function preflight(
  ctx: Context,
  {
    pipelineId,
    targetEnvironmentId,
    name,
  }: { pipelineId: string; targetEnvironmentId: string; name?: string | undefined },
): Promise<PromotionPreflight> {
  const from = await promotedFrom(ctx, pipelineId);
  const target = await targetOf(ctx, from, targetEnvironmentId, name);
  const health = await sourceHealth(ctx, from.environmentId, pipelineId);
  const waits = await findWaiting(ctx.db, { pipelineId, targetEnvironmentId, targetName: target.name });
  const row = waits && (await readPromotion(ctx.db, waits.id));
  const found = target.binding ? await inGit(ctx, from, target) : await here(ctx, from, target);
  const blockers = [
    ...(target.refusal ? [target.refusal] : []),
    ...(target.rollout ? [describeRollout(target.name)] : []),
    ...found.blockers,
    ...(waits?.status === 'AWAITING_PR_MERGE' && !target.binding
      ? [
          'A promotion of this waits for a pull request that git does not lead to any more; cancel that one first',
        ]
      : []),
  ];
  // A request that waits for an approval may be made before the secrets are there.
  const lacks = target.outcome === 'DEPLOYED' && found.missingSecrets.length > 0;
  return {
    canProceed: blockers.length === 0 && target.collision?.kind !== 'taken' && !lacks,
    outcome: target.outcome,
    targetName: target.name,
    missingSecrets: found.missingSecrets,
    nameCollision: target.collision,
    waiting: row && { id: row.id, status: row.status, pullRequest: presentPromotion(ctx, row).pullRequest },
    sourceHealth: health.told,
    blockers,
    notes: [...ofSource(health), ...found.notes].slice(0, MOST_NOTES),
  };
}

interface Found {
  missingSecrets: string[];
  blockers: string[];
  notes: string[];
}

function ofSource({ latestVersion, deployedVersion }: SourceHealth): string[] {
  if (deployedVersion === null)
    return ['What is promoted is the pipeline as it is saved; none of it has run in its own environment'];
  return latestVersion !== null && latestVersion > deployedVersion
    ? [
        `What is promoted is the pipeline as it is saved (version ${latestVersion}); version ${deployedVersion} runs`,
      ]
    : [];
}

async function here(ctx: Context, { pipeline }: Source, target: Target): Promise<Found> {
  const snapshot = graphSnapshot(pipeline);
  const { content, missing } = await contentFor(ctx, target.pipeline?.id ?? null, snapshot);
  const isDeployed = target.outcome === 'DEPLOYED';
  const blocked = isDeployed && missing.length > 0;
  // A request that waits for an approval may be made before the nodes are updated.
  const { refused, warnings } = await checkNodeTypes(ctx, target.id, content);
  return {
    missingSecrets: await missingVariables(ctx, target.id, storedConfig(content)),
    blockers: [...(blocked ? [credentialHints(missing)] : []), ...(isDeployed ? refused : [])],
    notes: [
      ...(blocked || missing.length === 0 ? [] : [credentialHints(missing)]),
      ...(isDeployed ? [] : refused),
      ...warnings,
    ],
  };
}

async function inGit(ctx: Context, from: Source, target: Target): Promise<Found> {
  try {
    const { engine, notes, conflicts } = await previewThroughGit(ctx, from, target);
    return {
      missingSecrets: engine.after === null ? [] : await missingVariables(ctx, target.id, engine.after),
      blockers: [],
      notes: [
        ...conflicts.map(
          (field) => `Both sides changed ${field} since the last promotion; the source's value goes in`,
        ),
        ...notes,
      ],
    };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { missingSecrets: [], blockers: [error.message], notes: [] };
  }
}
