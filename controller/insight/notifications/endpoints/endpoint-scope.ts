/** The team of the input, in which the endpoint, or the delivery, must be. */
import { teamScope } from '../../../identity/access/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import type { Scope } from '../../../platform/operation/operation.ts';
import { findEndpoint } from './store.ts';

export async function endpointScope(ctx: Context, teamId: string, endpointId: string): Promise<Scope> {
  const scope = await teamScope(ctx, teamId);
  const endpoint = await findEndpoint(ctx.db, endpointId);
  if (!endpoint || endpoint.environmentId !== null || endpoint.teamId !== teamId)
    throw notFound('Webhook endpoint');
  return scope;
}
