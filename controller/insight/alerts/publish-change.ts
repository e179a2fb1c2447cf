import type { MutationContext } from '../../platform/operation/context.ts';

export async function rulesChanged(ctx: MutationContext, environmentId: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['alerts'] });
}
