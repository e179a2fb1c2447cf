import type { Context, MutationContext } from '../../../platform/operation/context.ts';

/** The name of the loop that evaluates alert rules, in signals of the type `wake`. Its keys are environments. */
export const ALERTS_LOOP = 'alerts';

/** Pages read the environment's alerts again, and its rules are evaluated at once. */
export async function publishChange(ctx: MutationContext, environmentId: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, [
    { type: 'ui', environmentId, topics: ['alerts'] },
    { type: 'wake', loop: ALERTS_LOOP, key: environmentId, trigger: ctx.operation },
  ]);
}

/** Pages read the environment's alerts again. */
export async function publishAlerts(ctx: Context, environmentId: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['alerts'] });
}
