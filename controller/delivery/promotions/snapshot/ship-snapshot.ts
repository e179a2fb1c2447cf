/** Checks a snapshot and deploys it into an environment that git does not describe. */

import {
  assertShippable,
  findLivePipeline,
  type Shipped,
  type ShippedContent,
  shipPipeline,
  storedConfig,
  withOwnCredentials,
  withoutWrittenCredentials,
} from '../../../pipelines/index.ts';
import { addDependencies, lockOrder } from '../../../pipelines/order/index.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../../platform/operation/errors.ts';
import type { StoredPipeline } from '../../bindings/index.ts';
import { findActiveRollout } from '../../rollouts/index.ts';
import { describeRollout, type ResolvedTarget } from '../resolve-target.ts';
import type { GraphSnapshot } from './snapshot.ts';

export function graphSnapshot(pipeline: StoredPipeline): GraphSnapshot {
  const { description, labels, logLevel, drainSeconds, nodeSelector, dependsOn } = pipeline;
  const { nodes, edges, globalConfig } = pipeline;
  return {
    form: 'graph',
    ...{ description, labels, logLevel, nodeSelector, dependsOn },
    // Left out when unset, so that older snapshots keep their digest.
    ...(drainSeconds === null ? {} : { drainSeconds }),
    ...withoutWrittenCredentials({ nodes, edges, globalConfig }),
  };
}

/** The content to deploy: the snapshot, with the target's credentials where the snapshot has none. `missing`: pointers to the rest. */
export async function resolveContent(
  ctx: Pick<Context, 'db'>,
  pipelineId: string | null,
  snapshot: GraphSnapshot,
): Promise<{ content: ShippedContent; before: ShippedContent | null; missing: string[] }> {
  const before = pipelineId === null ? null : await findLivePipeline(ctx, pipelineId);
  const { graph, missing } = withOwnCredentials(snapshot, before);
  const { description, labels, logLevel, drainSeconds = null, nodeSelector } = snapshot;
  const effectiveSelector = before ? before.nodeSelector : nodeSelector;
  const content = { ...graph, description, labels, logLevel, drainSeconds, nodeSelector: effectiveSelector };
  return { content, before, missing };
}

export const describeMissingCredentials = (missing: readonly string[]): string =>
  `Credentials that are written out do not travel (${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ` and ${missing.length - 5} more` : ''}): make secrets of them in the source, and create these in the target`;

/** Call it outside of a transaction: it runs the engine. @throws PRECONDITION_FAILED, BAD_REQUEST with `validationErrors` */
export async function checkSnapshot(
  ctx: Context,
  target: ResolvedTarget,
  snapshot: GraphSnapshot,
): Promise<ShippedContent> {
  if (target.rollout) throw preconditionFailed(describeRollout(target.name));
  const { content, missing } = await resolveContent(ctx, target.pipeline?.id ?? null, snapshot);
  if (missing.length > 0) throw preconditionFailed(describeMissingCredentials(missing));
  await assertShippable(ctx, { id: target.id, name: target.environmentName }, content);
  return content;
}

export interface PromotionOrigin {
  promotionId: string;
  sourceEnvironmentName: string;
  sourceVersion: number | null;
}

/** Call it in the transaction that makes the promotion DEPLOYED. @throws CONFLICT where the target changed since the check */
export async function shipSnapshot(
  ctx: MutationContext,
  target: ResolvedTarget,
  { snapshot, checked }: { snapshot: GraphSnapshot; checked: ShippedContent },
  { promotionId, sourceEnvironmentName, sourceVersion }: PromotionOrigin,
): Promise<Shipped> {
  // The order of pipelines is always locked before a pipeline.
  await lockOrder(ctx.db, target.id);
  const pipelineId = target.pipeline?.id ?? null;
  if (pipelineId !== null && (await findActiveRollout(ctx.db, pipelineId)) !== null)
    throw preconditionFailed(describeRollout(target.name));
  const { content } = await resolveContent(ctx, pipelineId, snapshot);
  if (storedConfig(content) !== storedConfig(checked))
    throw conflict('The target changed during the check; try again');
  const shipped = await shipPipeline(
    ctx,
    { environmentId: target.id, teamId: target.teamId, name: target.name, pipelineId },
    content,
    { changelog: renderChangelog(sourceEnvironmentName, sourceVersion), metadata: { promotionId } },
  );
  await addDependencies(ctx, target.id, shipped.pipelineId, snapshot.dependsOn);
  return shipped;
}

const renderChangelog = (environment: string, version: number | null): string =>
  `Promoted from ${environment}${version === null ? ', where it has no version yet' : ` version ${version}`}`;
