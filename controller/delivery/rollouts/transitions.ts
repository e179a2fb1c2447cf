/** Begins, broadens and ends rollouts, for operations that change what a pipeline runs. The pipeline's row must be locked. */
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import {
  type Carried,
  carryRollouts,
  type Ended,
  endRollouts,
  findActiveRollout,
  insertRollouts,
  type NewRollout,
  type RolloutRecord,
} from './store.ts';

/** In signals of the type `wake`; keys are ids of rollouts, or this one. */
export const ROLLOUTS_LOOP = 'rollouts';
export const ALL_ROLLOUTS = '*';

/** Answers their ids, in the order given. */
export async function startRollouts(
  ctx: MutationContext,
  environmentId: string,
  rollouts: readonly Omit<NewRollout, 'id' | 'environmentId' | 'createdById' | 'createdBy' | 'createdAt'>[],
): Promise<string[]> {
  if (rollouts.length === 0) return [];
  const { actor, clock, db } = ctx;
  const made = rollouts.map((rollout) => ({
    ...rollout,
    id: newId(),
    environmentId,
    createdById: actor.type === 'user' ? actor.userId : null,
    createdBy: nameOfActor(actor),
    createdAt: new Date(clock.now()),
  }));
  await insertRollouts(db, made);
  const [only] = made;
  await wake(ctx, made.length === 1 && only ? only.id : ALL_ROLLOUTS, 'started');
  await show(ctx, environmentId);
  return made.map(({ id }) => id);
}

/** Ends what is active of these pipelines; answers the ids of what was. */
export async function endActive(
  ctx: MutationContext,
  environmentId: string,
  ended: readonly Ended[],
): Promise<string[]> {
  if (ended.length === 0) return [];
  const ids = await endRollouts(ctx.db, ended, {
    by: nameOfActor(ctx.actor),
    at: new Date(ctx.clock.now()),
  });
  if (ids.length > 0) await show(ctx, environmentId);
  return ids;
}

export async function continueRollouts(
  ctx: MutationContext,
  environmentId: string,
  carried: readonly Carried[],
): Promise<void> {
  if (carried.length === 0) return;
  await carryRollouts(ctx.db, carried);
  await show(ctx, environmentId);
}

/**
 * What is active of the pipeline; null where nothing is, mostly.
 * @throws PRECONDITION_FAILED where something is and it was not said that it may be superseded
 */
export async function assertNoRollout(
  ctx: Pick<MutationContext, 'db'>,
  pipelineId: string,
  supersede: boolean,
): Promise<RolloutRecord | null> {
  const active = await findActiveRollout(ctx.db, pipelineId);
  if (active && !supersede)
    throw preconditionFailed(
      `A rollout of version ${active.canaryVersion} is under way; broaden it or roll it back first, or send supersede: true to end it`,
      { rolloutId: active.id },
    );
  return active;
}

const wake = ({ db, services }: MutationContext, key: string, trigger: string) =>
  services.bus.publish(db, { type: 'wake', loop: ROLLOUTS_LOOP, key, trigger });

const show = ({ db, services }: MutationContext, environmentId: string) =>
  services.bus.publish(db, { type: 'ui', environmentId, topics: ['rollouts', 'pipelines'] });
