import type { Context } from '../../platform/operation/context.ts';

export const PROMOTIONS_LOOP = 'promotions';

/** Open pages of both sides follow; what is to be done the loop finds out itself. */
export async function notifyUi(
  { db, services }: Pick<Context, 'db' | 'services'>,
  environments: { sourceEnvironmentId: string | null; targetEnvironmentId: string },
): Promise<void> {
  const { sourceEnvironmentId, targetEnvironmentId } = environments;
  for (const environmentId of [sourceEnvironmentId, targetEnvironmentId])
    if (environmentId !== null)
      await services.bus.publish(db, { type: 'ui', environmentId, topics: ['promotions'] });
}

/** The loops of promotions and of pull requests look at it. */
export async function wakeLoops(
  { db, services }: Pick<Context, 'db' | 'services'>,
  { id, targetEnvironmentId }: { id: string; targetEnvironmentId: string },
): Promise<void> {
  const trigger = 'promotion';
  await services.bus.publish(db, { type: 'wake', loop: PROMOTIONS_LOOP, key: id, trigger });
  await services.bus.publish(db, { type: 'wake', loop: 'pull-requests', key: targetEnvironmentId, trigger });
}
