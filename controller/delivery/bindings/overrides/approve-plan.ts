/** An ADMIN approves one exact plan, by its hash. */
import { ApprovedPlan, ApprovePlan } from '../../../../schemas/api/delivery/git-plan.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import { preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { boundEnvironment, operatorOf, wake } from '../environment-binding.ts';
import { lockWaitingPlan } from '../status-store.ts';
import { insertApproval } from './overrides-store.ts';

export const approvePlan = mutation({
  name: 'gitSync.approvePlan',
  summary: 'Let the plan that waits be applied: exactly the one with this hash',
  role: 'ADMIN',
  audit: 'gitSync.planApproved',
  input: ApprovePlan,
  output: ApprovedPlan,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, hash }) {
    const binding = await boundEnvironment(ctx, environmentId);
    const waiting = await lockWaitingPlan(ctx.db, binding.id);
    if (!waiting) throw preconditionFailed('No plan waits for an approval here');
    if (waiting.hash !== hash)
      throw preconditionFailed('The plan has changed; review it again', { hash: waiting.hash });
    const by = operatorOf(ctx);
    await insertApproval(ctx.db, binding.id, hash, by);
    ctx.audit({
      entityType: 'GitBinding',
      entityId: binding.id,
      metadata: { hash, guards: waiting.guards.map(({ guard }) => guard) },
    });
    await wake(ctx, environmentId, 'plan approved');
    return { hash, approvedBy: by.name };
  },
});
