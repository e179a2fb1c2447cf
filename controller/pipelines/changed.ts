import { bumpConfigRevision } from '../environments/index.ts';
import type { MutationContext } from '../platform/context.ts';

export interface PipelineChange {
  /** Undefined for many at once. */
  pipelineId: string | undefined;
  reason: string;
  /** Whether any node is served something else than before. */
  served: boolean;
}

/** Nodes of the environment fetch anew where that makes a difference to them; open pages look again. */
export async function pipelinesChanged(
  ctx: MutationContext,
  environmentId: string,
  { pipelineId, reason, served }: PipelineChange,
): Promise<void> {
  const { bus } = ctx.services;
  if (served) {
    await bumpConfigRevision(ctx.db, environmentId);
    const which = pipelineId === undefined ? {} : { pipelineId };
    await bus.publish(ctx.db, { type: 'config', environmentId, ...which, reason });
  }
  await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['pipelines', 'fleet'] });
}
