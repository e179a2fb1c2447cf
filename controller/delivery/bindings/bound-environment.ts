/** What the operations of operators share: the binding that they speak to, who speaks, and waking the loop. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { type InventoryRecord, readLine } from './inventory/inventory-store.ts';
import type { Speaker } from './overrides/overrides-store.ts';
import { type Binding, findBinding } from './store.ts';

/** @throws PRECONDITION_FAILED where the environment is not bound. */
export async function boundEnvironment(ctx: Pick<Context, 'db'>, environmentId: string): Promise<Binding> {
  const binding = await findBinding(ctx.db, environmentId);
  if (!binding || binding.mode === 'off')
    throw preconditionFailed('This environment is not bound to git; configure it first');
  return binding;
}

/** The same, where the loop is to do something now. */
export async function runningBinding(ctx: Pick<Context, 'db'>, environmentId: string): Promise<Binding> {
  const binding = await boundEnvironment(ctx, environmentId);
  if (binding.suspendedAt !== null) throw preconditionFailed('This binding is suspended; resume it first');
  return binding;
}

/** @throws NOT_FOUND where the inventory has no such manifest. */
export async function manifestOf(
  ctx: Pick<Context, 'db'>,
  binding: Binding,
  { kind, name }: { kind: string; name: string },
): Promise<InventoryRecord> {
  const line = await readLine(ctx.db, binding.id, kind, nameKeyOf(name));
  if (!line) throw notFound('Manifest');
  return line;
}

export function operatorOf({ actor }: Pick<Context, 'actor'>): Speaker {
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

/** Open pages follow at once, and the loop looks; what there is to do it finds out itself. */
export async function wake(ctx: Context, environmentId: string, trigger: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['git'] });
}

/** What is checked of pull requests, and told of them, depends on the binding as well. */
export const wakePullRequests = (ctx: Context, key: string, trigger: string): Promise<void> =>
  ctx.services.bus.publish(ctx.db, { type: 'wake', loop: 'pull-requests', key, trigger });
