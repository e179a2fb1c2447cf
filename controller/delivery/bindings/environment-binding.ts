/** Shared by the operations for operators: finding the binding, naming the operator, waking the loop. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { type InventoryRecord, readLine } from './inventory/inventory-store.ts';
import type { Operator } from './overrides/overrides-store.ts';
import { type Binding, findBinding } from './store.ts';

/** @throws PRECONDITION_FAILED when the environment is not bound */
export async function boundEnvironment(ctx: Pick<Context, 'db'>, environmentId: string): Promise<Binding> {
  const binding = await findBinding(ctx.db, environmentId);
  if (!binding || binding.mode === 'off')
    throw preconditionFailed('This environment is not bound to git; configure it first');
  return binding;
}

/** Like `boundEnvironment`, for operations that need the loop to run now. @throws PRECONDITION_FAILED when it is suspended */
export async function runningBinding(ctx: Pick<Context, 'db'>, environmentId: string): Promise<Binding> {
  const binding = await boundEnvironment(ctx, environmentId);
  if (binding.suspendedAt !== null) throw preconditionFailed('This binding is suspended; resume it first');
  return binding;
}

/** @throws NOT_FOUND when the inventory has no such manifest */
export async function manifestOf(
  ctx: Pick<Context, 'db'>,
  binding: Binding,
  { kind, name }: { kind: string; name: string },
): Promise<InventoryRecord> {
  const line = await readLine(ctx.db, binding.id, kind, nameKeyOf(name));
  if (!line) throw notFound('Manifest');
  return line;
}

export function operatorOf({ actor }: Pick<Context, 'actor'>): Operator {
  switch (actor.type) {
    case 'user':
      return { id: actor.userId, name: actor.name || actor.email };
    case 'git':
      return { id: null, name: actor.author || 'git' };
    case 'anonymous':
    case 'scim':
      return { id: null, name: '' };
    default:
      return { id: null, name: actor.name };
  }
}

/** Open pages refresh at once, and the loop starts a pass, which finds out by itself what to do. */
export async function wake(ctx: Context, environmentId: string, trigger: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['git'] });
}

/** Checks and reports of pull requests depend on the binding as well. */
export const wakePullRequests = (ctx: Context, key: string, trigger: string): Promise<void> =>
  ctx.services.bus.publish(ctx.db, { type: 'wake', loop: 'pull-requests', key, trigger });
