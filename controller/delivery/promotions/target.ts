/** Where a promotion goes, and what becomes of it there. */
import type { PromotionPreflight } from '../../../schemas/api/promotions.ts';
import { findEnvironment } from '../../fleet/environments/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, conflict, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { type Binding, findBinding, policiesOf } from '../bindings/index.ts';
import { findActiveRollout } from '../rollouts/index.ts';
import { findNamesake } from './queries.ts';
import { earlierTargets, type PromotionRecord } from './store.ts';

export interface Target {
  id: string;
  environmentName: string;
  teamId: string;
  /** As the target calls the pipeline, or will. */
  name: string;
  outcome: PromotionPreflight['outcome'];
  /** Of a target that git describes, else null. */
  binding: Binding | null;
  /** The pipeline that is brought up to date; null where there is none yet. */
  pipeline: { id: string; name: string } | null;
  collision: PromotionPreflight['nameCollision'];
  /** A stage of a rollout is under way there. */
  rollout: boolean;
  /** Why nothing can be promoted there now. */
  refusal: string | null;
}

export interface PromotedFrom {
  pipeline: { id: string; name: string };
  environmentId: string;
}

/** @throws NOT_FOUND; BAD_REQUEST for the environment that the pipeline is in */
export async function targetOf(
  ctx: Context,
  { pipeline, environmentId }: PromotedFrom,
  targetEnvironmentId: string,
  name?: string,
): Promise<Target> {
  if (targetEnvironmentId === environmentId)
    throw badRequest('The pipeline is in that environment; promote it to another one, or use pipeline.clone');
  const environment = await findEnvironment(ctx.db, targetEnvironmentId);
  if (!environment) throw notFound('Environment');
  const bound = await findBinding(ctx.db, targetEnvironmentId);
  const earlier = await earlierTargets(ctx.db, { pipelineId: pipeline.id, targetEnvironmentId });
  const called = name ?? nameThere(earlier, pipeline.name);
  const namesake = await findNamesake(ctx.db, targetEnvironmentId, called);
  const own = namesake !== null && earlier.some(({ id }) => id === namesake.id);
  const binding =
    bound?.mode === 'sync' && policiesOf(bound).effective.owns.includes('Pipeline') ? bound : null;
  // The same pipeline, described for each environment, has the same name. Another name that is taken means another one.
  const sameName = namesake?.name.toLowerCase() === pipeline.name.toLowerCase();
  const inGit = binding !== null && namesake?.managedBy === 'git';
  const updates = namesake !== null && (binding ? inGit && (own || sameName) : own);
  return {
    id: environment.id,
    environmentName: environment.name,
    teamId: environment.teamId,
    name: namesake?.name ?? called,
    outcome: binding ? 'AWAITING_PR_MERGE' : environment.requireApproval ? 'PENDING' : 'DEPLOYED',
    binding,
    pipeline: updates ? { id: namesake.id, name: namesake.name } : null,
    collision: namesake && {
      pipelineId: namesake.id,
      name: namesake.name,
      kind: updates ? 'updates' : 'taken',
      message: collisionWords(environment.name, namesake.name, {
        ...{ updates, own },
        unadopted: binding !== null && !inGit,
      }),
    },
    rollout: updates && !binding && (await findActiveRollout(ctx.db, namesake.id)) !== null,
    refusal:
      bound?.mode === 'observe'
        ? `${environment.name} observes only: git is compared with it there and nothing is applied; set its binding to sync or off, and promote again`
        : null,
  };
}

/** What the source became there before, whatever it is called by now, unless its namesake is that. */
function nameThere(earlier: readonly { name: string }[], name: string): string {
  const same = earlier.find((one) => one.name.toLowerCase() === name.toLowerCase());
  return (same ?? earlier[0])?.name ?? name;
}

function collisionWords(
  environment: string,
  name: string,
  { updates, own, unadopted }: { updates: boolean; own: boolean; unadopted: boolean },
): string {
  if (updates)
    return own
      ? `"${name}" in ${environment} was promoted from this pipeline before; it is brought up to date`
      : `"${name}" in ${environment} is described in git; its manifest is brought up to date`;
  return unadopted
    ? `${environment} has a pipeline "${name}" that git does not describe there; let git adopt it first (gitSync.adopt), or choose another name`
    : `${environment} has a pipeline "${name}" that was not promoted from this one; choose another name, or rename that one`;
}

/** @throws what stands in the way of asking at all */
export function assertTarget({ collision, refusal }: Pick<Target, 'collision' | 'refusal'>): void {
  if (refusal) throw preconditionFailed(refusal);
  if (collision?.kind === 'taken') throw conflict(collision.message);
}

export const describeRollout = (name: string): string =>
  `"${name}" is being rolled out by stages there; broaden that rollout or roll it back first`;

/** What was asked for, against the target as it is now. */
export async function targetOfRequest(ctx: Context, promotion: PromotionRecord): Promise<Target> {
  const { pipelineId, pipelineName, sourceEnvironmentId, targetEnvironmentId, targetName } = promotion;
  if (pipelineId === null || sourceEnvironmentId === null)
    throw preconditionFailed(
      'The pipeline that was to be promoted is deleted; reject this, or let it be cancelled',
    );
  const from = { pipeline: { id: pipelineId, name: pipelineName }, environmentId: sourceEnvironmentId };
  const target = await targetOf(ctx, from, targetEnvironmentId, targetName);
  assertTarget(target);
  if (target.binding)
    throw preconditionFailed(
      `${target.environmentName} is described in git by now; cancel this promotion and ask for it again, and it becomes a pull request`,
    );
  return target;
}
