/** Circles of dependencies that are found within the transaction that would close them. */
import type { MutationContext } from '../../platform/operation/context.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { circleText, shortestCircle } from './cycles.ts';
import { dependenciesOf } from './dependency-graph.ts';
import { listOrdered, listStored } from './dependency-store.ts';

const NAMES_TOLD = 10;

/**
 * A pipeline that comes back brings its dependencies along, and others were added since. The caller holds `lockOrder`.
 * @throws CONFLICT where the pipeline, which is back already, closes a circle
 */
export async function assertNoCycleThrough(
  ctx: MutationContext,
  environmentId: string,
  pipelineId: string,
): Promise<void> {
  const pipelines = await listOrdered(ctx.db, environmentId);
  const dependencies = dependenciesOf(pipelines, await listStored(ctx.db, environmentId));
  for (const { upstreamId, upstreamName } of dependencies.upstreamsOf(pipelineId)) {
    const way = upstreamId === null ? null : dependencies.wayDown(pipelineId, upstreamId);
    if (!way) continue;
    const names = way.slice(0, NAMES_TOLD).map((id) => dependencies.byId.get(id)?.name ?? id);
    throw conflict(
      `It depends on "${upstreamName}", which has come to wait for it since (${names.join(' → ')}); remove one of these dependencies first`,
    );
  }
}

/**
 * The last word on what manifests say of the order: people may have added a dependency since the plan was made. The
 * caller holds `lockOrder` and has written the pipelines.
 * @throws CONFLICT where one of the pipelines closes a circle
 */
export async function assertNoCycles(
  ctx: MutationContext,
  environmentId: string,
  pipelineIds: readonly string[],
): Promise<void> {
  const pipelines = await listOrdered(ctx.db, environmentId);
  const { byId, upstreamsOf } = dependenciesOf(pipelines, await listStored(ctx.db, environmentId));
  const upstreamIds = (id: string) => upstreamsOf(id).flatMap(({ upstreamId }) => upstreamId ?? []);
  for (const id of pipelineIds) {
    const circle = shortestCircle(id, upstreamIds);
    if (!circle) continue;
    const names = circle.map((member) => byId.get(member)?.name ?? member);
    throw conflict(
      `Its dependencies go round in a circle, each waiting for the next: ${circleText(names)}; remove one of these dependencies`,
    );
  }
}
