/** Both ends of a promotion that is asked for. */

import { findEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import type { StoredPipeline } from '../bindings/index.ts';
import { storedPipeline } from './snapshot/stored-pipeline.ts';
import type { PromotionRecord } from './store.ts';

/** Source, and the environment that it goes to. @throws NOT_FOUND, FORBIDDEN */
export async function bothScopes(ctx: Context, input: { pipelineId: string; targetEnvironmentId: string }) {
  const source = await objectScope(ctx, 'Pipeline', input.pipelineId);
  const target = await environmentScope(ctx, input.targetEnvironmentId);
  return { source, target };
}

export interface Source {
  pipeline: StoredPipeline;
  environmentId: string;
  environmentName: string;
}

/** Of a promotion: what its source is called, or was when it was deleted. */
export async function sourceNameOf(
  ctx: Pick<Context, 'db'>,
  { sourceEnvironmentId: id, sourceEnvironmentName }: PromotionRecord,
): Promise<string> {
  const source = id === null ? null : await findEnvironment(ctx.db, id);
  return source?.name ?? sourceEnvironmentName;
}

/** Where a pipeline is promoted from. @throws NOT_FOUND */
export async function promotedFrom(ctx: Context, pipelineId: string): Promise<Source> {
  const { environmentId } = await objectScope(ctx, 'Pipeline', pipelineId);
  const environment = environmentId ? await findEnvironment(ctx.db, environmentId) : null;
  if (!environment) throw notFound('Pipeline');
  const pipeline = await storedPipeline(ctx, pipelineId);
  return { pipeline, environmentId: environment.id, environmentName: environment.name };
}
