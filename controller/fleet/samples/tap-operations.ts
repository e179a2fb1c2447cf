import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import { StartedTap, StartTap, TapId } from '../../../schemas/api/fleet/samples.ts';
import { Done } from '../../../schemas/api/identity/people.ts';
import { objectScope } from '../../identity/access/index.ts';
import { forbidden, notFound } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { lockEnvironment } from '../environments/index.ts';
import { pipelineScope, resolveTarget, tooMany, userOf } from './sample-scope.ts';
import { endTap, startMessage } from './tap-messages.ts';
import { countTaps, findTap, insertTap, lockUser } from './tap-store.ts';

const MAX_OPEN_PER_ENVIRONMENT = 20;
const MAX_OPEN_PER_USER = 3;

export const startTap = mutation({
  name: 'pipeline.startTap',
  summary: 'Watch the events of a component live for up to five minutes; /api/taps/<tapId> streams them',
  role: 'EDITOR',
  audit: 'pipeline.tapStarted',
  input: StartTap,
  output: StartedTap,
  scope: pipelineScope,
  prepare: (ctx, input) => resolveTarget(ctx, input, [input.componentKey], { byPush: true }),
  async run(ctx, { pipelineId, componentKey }, { environmentId, pipelineName, sinkKeys, node }) {
    const { nodeId, nodeName } = node;
    const userId = userOf(ctx);
    if (userId === null)
      throw forbidden('Only a signed-in user can start a live tap, and only that user can watch it');
    const createdAt = new Date(ctx.clock.now());
    const endsAt = new Date(createdAt.getTime() + AGENT_LIMITS.tapMs);
    await lockEnvironment(ctx.db, environmentId);
    await lockUser(ctx.db, userId);
    const open = await countTaps(ctx.db, { environmentId, userId, now: createdAt });
    if (open.ofUser >= MAX_OPEN_PER_USER)
      throw tooMany(`You have ${MAX_OPEN_PER_USER} live taps open; stop one of them`);
    if (open.inEnvironment >= MAX_OPEN_PER_ENVIRONMENT) {
      throw tooMany(
        `This environment has ${MAX_OPEN_PER_ENVIRONMENT} open live taps; wait until one of them ends`,
      );
    }
    const tapId = newId();
    const isSink = sinkKeys.length > 0;
    await insertTap(ctx.db, {
      ...{ tapId, environmentId, pipelineId, componentKey, nodeId, userId, isSink, createdAt, endsAt },
    });
    ctx.audit({
      entityType: 'Pipeline',
      entityId: pipelineId,
      metadata: { name: pipelineName, componentKey, node: nodeName },
    });
    const message = startMessage({ tapId, pipelineId, componentKey, isSink });
    await ctx.services.bus.publish(ctx.db, { type: 'push', nodeId, message });
    return { tapId, nodeId, nodeName, endsAt };
  },
});

export const stopTap = mutation({
  name: 'pipeline.stopTap',
  summary: 'Stop one of your live taps',
  role: 'EDITOR',
  audit: 'pipeline.tapStopped',
  input: TapId,
  output: Done,
  scope: (ctx, input) => objectScope(ctx, 'Tap', input.tapId),
  async run(ctx, { tapId }) {
    const tap = await findTap(ctx.db, tapId);
    // The tap of another user counts as not found, regardless of roles.
    if (!tap || tap.userId !== userOf(ctx)) throw notFound('Tap');
    if (!(await endTap(ctx.db, ctx.services.bus, tapId, 'It was stopped'))) throw notFound('Tap');
    const { pipelineId, componentKey } = tap;
    ctx.audit({ entityType: 'Pipeline', entityId: pipelineId, metadata: { componentKey } });
    return { ok: true as const };
  },
});
