import type { MutationContext } from '../../platform/operation/context.ts';
import { bumpConfigRevision } from '../environments/index.ts';

/** The label templates of groups can change what every node of the environment is served. */
export async function publishGroupChange(ctx: MutationContext, environmentId: string): Promise<void> {
  await bumpConfigRevision(ctx.db, environmentId);
  await ctx.services.bus.publish(ctx.db, { type: 'config', environmentId, reason: 'node groups' });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['fleet', 'pipelines'] });
}
