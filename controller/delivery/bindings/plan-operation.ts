import { GitPlan, PlanGit } from '../../../schemas/api/delivery/git-plan.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { query } from '../../platform/operation/operation.ts';
import { findBinding } from './store.ts';

export const plan = query({
  name: 'gitSync.plan',
  summary:
    'What git would change: of the branch as it stands, of another ref, or of files at hand. Nothing is applied',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: PlanGit,
  output: GitPlan,
  weight: 'heavy',
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, ref, files }) {
    const binding = await findBinding(ctx.db, environmentId);
    if (!binding || binding.mode === 'off')
      throw preconditionFailed('This environment is not bound to git; configure it first');
    return ctx.services.git.plan(ctx, binding, {
      ...(ref === undefined ? {} : { ref }),
      ...(files === undefined ? {} : { files }),
    });
  },
});
