/** The source of a promotion, and the access scopes of both sides. */
import { findEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import type { StoredPipeline } from '../bindings/index.ts';
import { getStoredPipeline } from './snapshot/stored-pipeline.ts';
import type { PromotionRecord } from './store.ts';

/** @throws NOT_FOUND, FORBIDDEN */
export async function resolveScopes(
  ctx: Context,
  input: { pipelineId: string; targetEnvironmentId: string },
) {
  const source = await objectScope(ctx, 'Pipeline', input.pipelineId);
  const target = await environmentScope(ctx, input.targetEnvironmentId);
  return { source, target };
}

export interface ResolvedSource {
  pipeline: StoredPipeline;
  environmentId: string;
  environmentName: string;
}

/** The current name of the source environment; of a deleted one, its last name. */
export async function findSourceName(
  ctx: Pick<Context, 'db'>,
  { sourceEnvironmentId: id, sourceEnvironmentName }: PromotionRecord,
): Promise<string> {
  const source = id === null ? null : await findEnvironment(ctx.db, id);
  return source?.name ?? sourceEnvironmentName;
}

/** @throws NOT_FOUND */
export async function resolveSource(ctx: Context, pipelineId: string): Promise<ResolvedSource> {
  const { environmentId } = await objectScope(ctx, 'Pipeline', pipelineId);
  const environment = environmentId ? await findEnvironment(ctx.db, environmentId) : null;
  if (!environment) throw notFound('Pipeline');
  const pipeline = await getStoredPipeline(ctx, pipelineId);
  return { pipeline, environmentId: environment.id, environmentName: environment.name };
}
