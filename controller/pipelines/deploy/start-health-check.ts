/**
 * Starts the observation window of a rollout. The rollout reconciler calls it once every reachable canary node runs the
 * version.
 */
import Type from 'typebox';
import type { RolloutVerdict } from '../../../schemas/api/delivery/rollouts.ts';
import { beginHealthCheck, findRollout, type Observed } from '../../delivery/rollouts/index.ts';
import { objectScope } from '../../identity/access/index.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { getPipeline } from '../lifecycle/lock-pipeline.ts';

export const startHealthCheck = mutation({
  name: 'stagedRollout.startHealthCheck',
  summary: 'Start the observation window of a rollout',
  role: 'EDITOR',
  audit: 'rollout.healthCheckStarted',
  input: Type.Object({
    rolloutId: Type.String(),
    observed: Type.Unsafe<Observed>({ type: 'object' }),
    verdict: Type.Unsafe<RolloutVerdict>({ type: 'object' }),
  }),
  output: Type.Object({ begun: Type.Boolean() }),
  scope: (ctx, input) => objectScope(ctx, 'Rollout', input.rolloutId),
  async run(ctx, { rolloutId, observed, verdict }) {
    const rollout = await findRollout(ctx.db, rolloutId);
    if (!rollout) throw notFound('Rollout');
    const { pipelineId, environmentId } = rollout;
    const { name } = await getPipeline(ctx, pipelineId);
    const at = new Date(ctx.clock.now());
    const begun = await beginHealthCheck(ctx.db, rolloutId, { at, observed, verdict });
    ctx.audit({
      ...{ entityType: 'Pipeline', entityId: pipelineId, environmentId },
      metadata: { name, rolloutId, version: rollout.canaryVersion, begun, minutes: rollout.windowMinutes },
    });
    const topics = ['rollouts', 'pipelines'] as const;
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: [...topics] });
    return { begun };
  },
});
