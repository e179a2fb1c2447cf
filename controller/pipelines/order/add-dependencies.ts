/** Adds dependencies by name, for a pipeline that is copied from another environment. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { assertNoCycleThrough } from './cycle-checks.ts';
import { dependenciesOf } from './dependency-graph.ts';
import { insertDependency, listOrdered, listUiDependencies } from './dependency-store.ts';

/**
 * Makes the pipeline depend on the pipelines of these names that exist; its other dependencies stay. The caller holds
 * `lockOrder`.
 *
 * @throws CONFLICT if that closes a cycle
 */
export async function addDependencies(
  ctx: MutationContext,
  environmentId: string,
  downstreamId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const pipelines = await listOrdered(ctx.db, environmentId);
  const dependencies = dependenciesOf(pipelines, await listUiDependencies(ctx.db, environmentId));
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
