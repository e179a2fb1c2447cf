import type { Context } from '../../platform/operation/context.ts';

export const PROMOTIONS_LOOP = 'promotions';

/** Refreshes the open pages of both environments. It does not wake the loop. */
export async function notifyUi(
  { db, services }: Pick<Context, 'db' | 'services'>,
  environments: { sourceEnvironmentId: string | null; targetEnvironmentId: string },
): Promise<void> {
  const { sourceEnvironmentId, targetEnvironmentId } = environments;
  for (const environmentId of [sourceEnvironmentId, targetEnvironmentId])
    if (environmentId !== null)
      await services.bus.publish(db, { type: 'ui', environmentId, topics: ['promotions'] });
}

/** Wakes the loops of promotions and of pull requests. */
export async function wakeLoops(
  { db, services }: Pick<Context, 'db' | 'services'>,
  { id, targetEnvironmentId }: { id: string; targetEnvironmentId: string },
): Promise<void> {
  const trigger = 'promotion';
  await services.bus.publish(db, { type: 'wake', loop: PROMOTIONS_LOOP, key: id, trigger });
  await services.bus.publish(db, { type: 'wake', loop: 'pull-requests', key: targetEnvironmentId, trigger });
}
