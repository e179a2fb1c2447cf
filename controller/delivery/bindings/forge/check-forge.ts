/** Administrators test the forge of a binding. */
import { CheckedForge } from '../../../../schemas/api/delivery/forges.ts';
import { OfEnvironment } from '../../../../schemas/api/delivery/git-sync.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import { preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { setForgeError } from '../status-store.ts';
import { findBinding } from '../store.ts';

export const checkForge = mutation({
  name: 'gitSync.checkForge',
  summary: 'Ask the forge whether its token is good for pull requests, comments and statuses',
  // Only those who may give it another token.
  role: 'ADMIN',
  audit: 'gitSync.forgeChecked',
  input: OfEnvironment,
  output: CheckedForge,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, { environmentId }) {
    const binding = await findBinding(ctx.db, environmentId);
    if (!binding || binding.forge === 'none')
      throw preconditionFailed('This environment has no forge; name it when you bind its repository');
    return { binding, checked: await ctx.services.forges.check(binding) };
  },
  async run(ctx, { environmentId }, { binding, checked }) {
    const now = await findBinding(ctx.db, environmentId);
    // The result belongs to the token that was tested, not to a newer one.
    if (now?.revision === binding.revision)
      await setForgeError(ctx.db, binding.id, checked.ok ? null : checked.message);
    ctx.audit({
      entityType: 'GitBinding',
      entityId: binding.id,
      metadata: { forge: binding.forge, ok: checked.ok },
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['git'] });
    return checked;
  },
});
