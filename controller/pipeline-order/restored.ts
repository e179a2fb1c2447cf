/** A pipeline that comes back brings along what was said of its order; others have said more since. */
import type { MutationContext } from '../platform/context.ts';
import { conflict } from '../platform/errors.ts';
import { dependenciesOf } from './dependency-graph.ts';
import { listOrdered, listStored } from './dependency-store.ts';

const NAMES_TOLD = 10;

/**
 * The caller holds `lockOrder`.
 * @throws CONFLICT where the pipeline, which is back already, closes a circle
 */
export async function refuseCircleThrough(
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
