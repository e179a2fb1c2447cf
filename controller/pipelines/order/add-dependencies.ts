/** Dependencies by name, as a pipeline brings them along from another environment. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { assertNoCycleThrough } from './cycle-checks.ts';
import { dependenciesOf } from './dependency-graph.ts';
import { insertDependency, listOrdered, listStored } from './dependency-store.ts';

/**
 * Lets the pipeline depend on those of these names that are there; what it depends on already stays. The caller holds
 * `lockOrder`.
 * @throws CONFLICT where that closes a circle
 */
export async function addDependencies(
  ctx: MutationContext,
  environmentId: string,
  downstreamId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const pipelines = await listOrdered(ctx.db, environmentId);
  const dependencies = dependenciesOf(pipelines, await listStored(ctx.db, environmentId));
  const known = new Set(dependencies.upstreamsOf(downstreamId).map(({ upstreamId }) => upstreamId));
  const wanted = new Set(names.map(nameKeyOf));
  const added = pipelines.filter(
    ({ id, name }) => id !== downstreamId && wanted.has(nameKeyOf(name)) && !known.has(id),
  );
  const createdById = ctx.actor.type === 'user' ? ctx.actor.userId : null;
  for (const { id: upstreamId } of added)
    await insertDependency(ctx.db, { upstreamId, downstreamId, description: null, createdById });
  if (added.length > 0) await assertNoCycleThrough(ctx, environmentId, downstreamId);
}
