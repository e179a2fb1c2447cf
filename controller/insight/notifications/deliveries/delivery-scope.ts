import { objectScope, teamScope } from '../../../identity/access/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import type { Scope } from '../../../platform/operation/operation.ts';

/** The team of the input, which must be that of the delivery's endpoint. */
export async function deliveryScope(ctx: Context, teamId: string, deliveryId: string): Promise<Scope> {
  const scope = await teamScope(ctx, teamId);
  const found = await objectScope(ctx, 'Delivery', deliveryId);
  if (found.teamId !== teamId || found.environmentId != null) throw notFound('Delivery');
  return scope;
}

/** The environment of the delivery's webhook. */
export async function environmentDeliveryScope(ctx: Context, deliveryId: string): Promise<Scope> {
  const scope = await objectScope(ctx, 'Delivery', deliveryId);
  if (scope.environmentId == null) throw notFound('Delivery');
  return scope;
}
