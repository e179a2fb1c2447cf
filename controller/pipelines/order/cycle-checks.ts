/** Checks for dependency cycles within the transaction that would close one. */
import type { MutationContext } from '../../platform/operation/context.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { circleText, shortestCircle } from './cycles.ts';
import { dependenciesOf } from './dependency-graph.ts';
import { listOrdered, listUiDependencies } from './dependency-store.ts';

const MAX_NAMES = 10;

/**
 * Checks a restored pipeline: its own dependencies return, and others were added meanwhile. The caller holds `lockOrder`.
 *
 * @throws CONFLICT if the restored pipeline closes a cycle
 */
export async function assertNoCycleThrough(
  ctx: MutationContext,
  environmentId: string,
  pipelineId: string,
): Promise<void> {
  const pipelines = await listOrdered(ctx.db, environmentId);
  const dependencies = dependenciesOf(pipelines, await listUiDependencies(ctx.db, environmentId));
  for (const { upstreamId, upstreamName } of dependencies.upstreamsOf(pipelineId)) {
    const path = upstreamId === null ? null : dependencies.pathDown(pipelineId, upstreamId);
    if (!path) continue;
    const names = path.slice(0, MAX_NAMES).map((id) => dependencies.byId.get(id)?.name ?? id);
    throw conflict(
      `It depends on "${upstreamName}", which meanwhile depends on it (${names.join(' → ')}); remove one of these dependencies first`,
    );
  }
}

/**
 * The final check of the dependencies in manifests: a user may have added a dependency after the plan. The caller holds
 * `lockOrder` and has written the pipelines.
 *
 * @throws CONFLICT if one of the pipelines closes a cycle
 */
export async function assertNoCycles(
  ctx: MutationContext,
  environmentId: string,
  pipelineIds: readonly string[],
): Promise<void> {
  const pipelines = await listOrdered(ctx.db, environmentId);
  const { byId, upstreamsOf } = dependenciesOf(pipelines, await listUiDependencies(ctx.db, environmentId));
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
