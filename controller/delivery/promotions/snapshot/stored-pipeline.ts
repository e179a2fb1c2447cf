import type { Context } from '../../../platform/operation/context.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { findObject, type StoredPipeline } from '../../bindings/index.ts';

export type LogLevelName = StoredPipeline['logLevel'];

/** @throws NOT_FOUND */
export async function getStoredPipeline(ctx: Pick<Context, 'db'>, id: string): Promise<StoredPipeline> {
  const found = await findObject(ctx.db, 'Pipeline', id);
  if (found?.kind !== 'Pipeline') throw notFound('Pipeline');
  return found;
}
