/** Resolves the target of a promotion: its binding, the pipeline that is updated, name collisions and blockers. */
import type { PromotionPreflight } from '../../../schemas/api/delivery/promotions.ts';
import { findEnvironment } from '../../fleet/environments/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, conflict, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { type Binding, findBinding, policiesOf } from '../bindings/index.ts';
import { findActiveRollout } from '../rollouts/index.ts';
import { outcomeFor } from './outcome.ts';
import { findPipelineByName } from './promotion-queries.ts';
import { listEarlierTargets, type PromotionRecord } from './store.ts';

export interface ResolvedTarget {
  id: string;
  environmentName: string;
  teamId: string;
  /** The pipeline's name in the target. */
  name: string;
  outcome: PromotionPreflight['outcome'];
  /** Null for a target that git does not describe. */
  binding: Binding | null;
  /** The pipeline that is updated; null where a new one is created. */
  pipeline: { id: string; name: string } | null;
  collision: PromotionPreflight['nameCollision'];
  /** A staged rollout of the pipeline is in progress. */
  rollout: boolean;
  /** Why nothing can be promoted into the environment now. */
  blocker: string | null;
}

export interface SourceRef {
  pipeline: { id: string; name: string };
  environmentId: string;
}

/** @throws NOT_FOUND; BAD_REQUEST for the environment that the pipeline is in */
export async function resolveTarget(
  ctx: Context,
  { pipeline, environmentId }: SourceRef,
  targetEnvironmentId: string,
  name?: string,
): Promise<ResolvedTarget> {
  if (targetEnvironmentId === environmentId)
    throw badRequest('The pipeline is in that environment; promote it to another one, or use pipeline.clone');
  const environment = await findEnvironment(ctx.db, targetEnvironmentId);
  if (!environment) throw notFound('Environment');
  const environmentBinding = await findBinding(ctx.db, targetEnvironmentId);
  const earlier = await listEarlierTargets(ctx.db, { pipelineId: pipeline.id, targetEnvironmentId });
  const targetName = name ?? nameInTarget(earlier, pipeline.name);
  const namesake = await findPipelineByName(ctx.db, targetEnvironmentId, targetName);
  const wasPromotedHere = namesake !== null && earlier.some(({ id }) => id === namesake.id);
  const binding =
    environmentBinding?.mode === 'sync' && policiesOf(environmentBinding).effective.owns.includes('Pipeline')
      ? environmentBinding
      : null;
  // Manifests of one pipeline have one name in all environments. A different name that is taken belongs to another pipeline.
  const sameName = namesake?.name.toLowerCase() === pipeline.name.toLowerCase();
  const isGitManaged = binding !== null && namesake?.managedBy === 'git';
  const updates =
    namesake !== null && (binding ? isGitManaged && (wasPromotedHere || sameName) : wasPromotedHere);
  return {
    id: environment.id,
    environmentName: environment.name,
    teamId: environment.teamId,
    name: namesake?.name ?? targetName,
    outcome: outcomeFor(binding, environment.requireApproval),
    binding,
    pipeline: updates ? { id: namesake.id, name: namesake.name } : null,
    collision: namesake && {
      pipelineId: namesake.id,
      name: namesake.name,
      kind: updates ? 'updates' : 'taken',
      message: describeCollision(environment.name, namesake.name, {
        ...{ updates, own: wasPromotedHere },
        unadopted: binding !== null && !isGitManaged,
      }),
    },
    rollout: updates && !binding && (await findActiveRollout(ctx.db, namesake.id)) !== null,
    blocker:
      environmentBinding?.mode === 'observe'
        ? `${environment.name} observes only: git is compared with it there and nothing is applied; set its binding to sync or off, and promote again`
        : null,
  };
}

/** The current name of the pipeline to which the source was promoted before; one of the same name is preferred. */
function nameInTarget(earlier: readonly { name: string }[], name: string): string {
  const same = earlier.find((one) => one.name.toLowerCase() === name.toLowerCase());
  return (same ?? earlier[0])?.name ?? name;
}

function describeCollision(
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

/** @throws PRECONDITION_FAILED, CONFLICT */
export function assertTarget({
  collision,
  blocker: refusal,
}: Pick<ResolvedTarget, 'collision' | 'blocker'>): void {
  if (refusal) throw preconditionFailed(refusal);
  if (collision?.kind === 'taken') throw conflict(collision.message);
}

export const describeRollout = (name: string): string =>
  `"${name}" is being rolled out by stages there; broaden that rollout or roll it back first`;

/** Resolves the current target of a recorded request. @throws PRECONDITION_FAILED, CONFLICT */
export async function resolveRequestTarget(
  ctx: Context,
  promotion: PromotionRecord,
): Promise<ResolvedTarget> {
  const { pipelineId, pipelineName, sourceEnvironmentId, targetEnvironmentId, targetName } = promotion;
  if (pipelineId === null || sourceEnvironmentId === null)
    throw preconditionFailed('The source pipeline is deleted; reject or cancel this promotion');
  const source = { pipeline: { id: pipelineId, name: pipelineName }, environmentId: sourceEnvironmentId };
  const target = await resolveTarget(ctx, source, targetEnvironmentId, targetName);
  assertTarget(target);
  if (target.binding)
    throw preconditionFailed(
      `${target.environmentName} is now described in git; cancel this promotion and promote again to open a pull request`,
    );
  return target;
}
