import type { MutationContext } from '../../platform/operation/context.ts';

export async function publishChange(ctx: MutationContext, environmentId: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['alerts'] });
}
