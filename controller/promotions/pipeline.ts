/** A pipeline as promotions look at it. */
import { findObject, type StoredPipeline } from '../git-sync/index.ts';
import type { Context } from '../platform/context.ts';
import { notFound } from '../platform/errors.ts';

export type LogLevelName = StoredPipeline['logLevel'];

/** @throws NOT_FOUND */
export async function storedPipeline(ctx: Pick<Context, 'db'>, id: string): Promise<StoredPipeline> {
  const found = await findObject(ctx.db, 'Pipeline', id);
  if (found?.kind !== 'Pipeline') throw notFound('Pipeline');
  return found;
}
