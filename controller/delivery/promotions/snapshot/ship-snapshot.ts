/** Into an environment that git does not describe: the snapshot is checked, and then deployed. */

import {
  checkShipped,
  type Shipped,
  type ShippedContent,
  shipPipeline,
  shippedOnto,
  storedConfig,
  withOwnCredentials,
  withoutWrittenCredentials,
} from '../../../pipelines/index.ts';
import { addDependencies, lockOrder } from '../../../pipelines/order/index.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../../platform/operation/errors.ts';
import type { StoredPipeline } from '../../bindings/index.ts';
import { findActiveRollout } from '../../rollouts/index.ts';
import { describeRollout, type Target } from '../target.ts';
import type { GraphSnapshot } from './snapshot.ts';

export function graphSnapshot(pipeline: StoredPipeline): GraphSnapshot {
  const { description, labels, logLevel, drainSeconds, nodeSelector, dependsOn } = pipeline;
  const { nodes, edges, globalConfig } = pipeline;
  return {
    form: 'graph',
    ...{ description, labels, logLevel, nodeSelector, dependsOn },
    // A snapshot says what is set, so that one of before has the same digest.
    ...(drainSeconds === null ? {} : { drainSeconds }),
    ...withoutWrittenCredentials({ nodes, edges, globalConfig }),
  };
}

/** What would be deployed there: the snapshot, with the target's own credentials where some were left out. */
export async function contentFor(
  ctx: Pick<Context, 'db'>,
  pipelineId: string | null,
  snapshot: GraphSnapshot,
): Promise<{ content: ShippedContent; before: ShippedContent | null; missing: string[] }> {
  const before = pipelineId === null ? null : await shippedOnto(ctx, pipelineId);
  const { graph, missing } = withOwnCredentials(snapshot, before);
  const { description, labels, logLevel, drainSeconds = null, nodeSelector } = snapshot;
  const kept = before ? before.nodeSelector : nodeSelector;
  const content = { ...graph, description, labels, logLevel, drainSeconds, nodeSelector: kept };
  return { content, before, missing };
}

export const credentialHints = (missing: readonly string[]): string =>
  `Credentials that are written out do not travel (${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ` and ${missing.length - 5} more` : ''}): make secrets of them in the source, and create these in the target`;

/** Outside of any transaction. @throws PRECONDITION_FAILED, BAD_REQUEST with `validationErrors` */
export async function checkSnapshot(
  ctx: Context,
  target: Target,
  snapshot: GraphSnapshot,
): Promise<ShippedContent> {
  if (target.rollout) throw preconditionFailed(describeRollout(target.name));
  const { content, missing } = await contentFor(ctx, target.pipeline?.id ?? null, snapshot);
  if (missing.length > 0) throw preconditionFailed(credentialHints(missing));
  await checkShipped(ctx, { id: target.id, name: target.environmentName }, content);
  return content;
}

export interface Promoted {
  promotionId: string;
  sourceEnvironmentName: string;
  sourceVersion: number | null;
}

/** In the transaction in which the promotion becomes DEPLOYED. @throws CONFLICT where the target changed since it was checked */
export async function shipSnapshot(
  ctx: MutationContext,
  target: Target,
  { snapshot, checked }: { snapshot: GraphSnapshot; checked: ShippedContent },
  { promotionId, sourceEnvironmentName, sourceVersion }: Promoted,
): Promise<Shipped> {
  // In the order in which others lock them.
  await lockOrder(ctx.db, target.id);
  const pipelineId = target.pipeline?.id ?? null;
  if (pipelineId !== null && (await findActiveRollout(ctx.db, pipelineId)) !== null)
    throw preconditionFailed(describeRollout(target.name));
  const { content } = await contentFor(ctx, pipelineId, snapshot);
  if (storedConfig(content) !== storedConfig(checked))
    throw conflict('The target was changed while this was being checked; try again');
  const shipped = await shipPipeline(
    ctx,
    { environmentId: target.id, teamId: target.teamId, name: target.name, pipelineId },
    content,
    { changelog: changelogOf(sourceEnvironmentName, sourceVersion), metadata: { promotionId } },
  );
  await addDependencies(ctx, target.id, shipped.pipelineId, snapshot.dependsOn);
  return shipped;
}

const changelogOf = (environment: string, version: number | null): string =>
  `Promoted from ${environment}${version === null ? ', where it has no version yet' : ` version ${version}`}`;
