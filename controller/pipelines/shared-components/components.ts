/** Reads and makes shared components, with their limits. */
import type { SharedComponent } from '../../../schemas/api/pipelines/shared-components.ts';
import { lockEnvironment } from '../../fleet/environments/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { countSharedComponents, findSharedComponent, insertSharedComponent, listUses } from './store.ts';

/** Limit per environment, since the list is not paged. */
const MAX_COMPONENTS = 1_000;

const MAX_CONFIG_BYTES = 262_144;

export async function getSharedComponent(
  ctx: Context,
  environmentId: string,
  id: string,
): Promise<SharedComponent> {
  const component = await findSharedComponent(ctx.db, environmentId, id);
  if (!component) throw notFound('Shared component');
  const uses = await listUses(ctx.db, environmentId, id);
  return { ...component, usedBy: uses.map(({ sharedComponentId: _, ...use }) => use) };
}

/** @throws BAD_REQUEST */
export function assertConfig(config: Record<string, unknown>): void {
  for (const reserved of ['type', 'inputs']) {
    if (Object.hasOwn(config, reserved))
      throw badRequest(
        `config contains "${reserved}"; the type is componentType, and a pipeline defines the inputs`,
      );
  }
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes > MAX_CONFIG_BYTES)
    throw badRequest(`config has ${bytes} bytes, the limit is ${MAX_CONFIG_BYTES}`);
}

export async function notifyUi(ctx: MutationContext, environmentId: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['pipelines'] });
}

export async function insert(
  ctx: MutationContext,
  component: Omit<Parameters<typeof insertSharedComponent>[1], 'id' | 'createdById'>,
): Promise<string> {
  assertConfig(component.config);
  await lockEnvironment(ctx.db, component.environmentId);
  if ((await countSharedComponents(ctx.db, component.environmentId)) >= MAX_COMPONENTS)
    throw preconditionFailed(`This environment has ${MAX_COMPONENTS} shared components; delete some first`);
  const id = newId();
  const createdById = ctx.actor.type === 'user' ? ctx.actor.userId : null;
  await insertSharedComponent(ctx.db, { ...component, id, createdById });
  ctx.audit({
    entityType: 'SharedComponent',
    entityId: id,
    environmentId: component.environmentId,
    metadata: { name: component.name, componentType: component.componentType },
  });
  await notifyUi(ctx, component.environmentId);
  return id;
}
