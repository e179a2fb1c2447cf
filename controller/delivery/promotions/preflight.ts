/** Checks what would block a promotion before it is requested. */
import type { PromotionPreflight } from '../../../schemas/api/delivery/promotions.ts';
import { checkNodeTypes, missingVariables, storedConfig } from '../../pipelines/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { DomainError } from '../../platform/operation/errors.ts';
import { previewManifest } from './diff.ts';
import { findPromotionRow } from './promotion-queries.ts';
import { presentPromotion } from './promotion-view.ts';
import { type ResolvedSource, resolveSource } from './resolve-source.ts';
import { describeRollout, type ResolvedTarget, resolveTarget } from './resolve-target.ts';
import { describeMissingCredentials, graphSnapshot, resolveContent } from './snapshot/ship-snapshot.ts';
import { readSourceHealth, type SourceHealth } from './source-health.ts';
import { findWaiting } from './store.ts';

const MAX_NOTES = 50;

export async function preflight(
  ctx: Context,
  {
    pipelineId,
    targetEnvironmentId,
    name,
  }: { pipelineId: string; targetEnvironmentId: string; name?: string | undefined },
): Promise<PromotionPreflight> {
  const source = await resolveSource(ctx, pipelineId);
  const target = await resolveTarget(ctx, source, targetEnvironmentId, name);
  const health = await readSourceHealth(ctx, source.environmentId, pipelineId);
  const waiting = await findWaiting(ctx.db, { pipelineId, targetEnvironmentId, targetName: target.name });
  const row = waiting && (await findPromotionRow(ctx.db, waiting.id));
  const checks = target.binding
    ? await checkGitTarget(ctx, source, target)
    : await checkDirectTarget(ctx, source, target);
  const blockers = [
    ...(target.blocker ? [target.blocker] : []),
    ...(target.rollout ? [describeRollout(target.name)] : []),
    ...checks.blockers,
    ...(waiting?.status === 'AWAITING_PR_MERGE' && !target.binding
      ? [
          'An earlier promotion of this pipeline waits for a pull request, but git no longer describes the target; cancel that promotion first',
        ]
      : []),
  ];
  // An approval may be requested before the secrets exist.
  const lacksSecrets = target.outcome === 'DEPLOYED' && checks.missingSecrets.length > 0;
  return {
    canProceed: blockers.length === 0 && target.collision?.kind !== 'taken' && !lacksSecrets,
    outcome: target.outcome,
    targetName: target.name,
    missingSecrets: checks.missingSecrets,
    nameCollision: target.collision,
    waiting: row && { id: row.id, status: row.status, pullRequest: presentPromotion(ctx, row).pullRequest },
    sourceHealth: health.summary,
    blockers,
    notes: [...sourceNotes(health), ...checks.notes].slice(0, MAX_NOTES),
  };
}

interface TargetChecks {
  missingSecrets: string[];
  blockers: string[];
  notes: string[];
}

function sourceNotes({ latestVersion, deployedVersion }: SourceHealth): string[] {
  if (deployedVersion === null)
    return ['The saved pipeline is promoted; no version of it runs in its own environment'];
  return latestVersion !== null && latestVersion > deployedVersion
    ? [
        `The saved pipeline (version ${latestVersion}) is promoted; version ${deployedVersion} is the one that runs`,
      ]
    : [];
}

async function checkDirectTarget(
  ctx: Context,
  { pipeline }: ResolvedSource,
  target: ResolvedTarget,
): Promise<TargetChecks> {
  const snapshot = graphSnapshot(pipeline);
  const { content, missing } = await resolveContent(ctx, target.pipeline?.id ?? null, snapshot);
  const isDeployed = target.outcome === 'DEPLOYED';
  const blocked = isDeployed && missing.length > 0;
  // An approval may be requested before the nodes are updated.
  const { refused, warnings } = await checkNodeTypes(ctx, target.id, content);
  return {
    missingSecrets: await missingVariables(ctx, target.id, storedConfig(content)),
    blockers: [...(blocked ? [describeMissingCredentials(missing)] : []), ...(isDeployed ? refused : [])],
    notes: [
      ...(blocked || missing.length === 0 ? [] : [describeMissingCredentials(missing)]),
      ...(isDeployed ? [] : refused),
      ...warnings,
    ],
  };
}

async function checkGitTarget(
  ctx: Context,
  source: ResolvedSource,
  target: ResolvedTarget,
): Promise<TargetChecks> {
  try {
    const { engine, notes, conflicts } = await previewManifest(ctx, source, target);
    return {
      missingSecrets: engine.after === null ? [] : await missingVariables(ctx, target.id, engine.after),
      blockers: [],
      notes: [
        ...conflicts.map(
          (field) => `Both sides changed ${field} since the last promotion; the source's value is used`,
        ),
        ...notes,
      ],
    };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { missingSecrets: [], blockers: [error.message], notes: [] };
  }
}
