/** The signed-in user unlinks their own account from the provider. */
import { NoInput } from '../../../../schemas/api/common.ts';
import { Done } from '../../../../schemas/api/identity/people.ts';
import { forbidden, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../../platform/operation/operation.ts';
import { endSessions, hasValidPassword, lockUserRow } from '../../access/index.ts';
import { lockRulesShared } from '../../directory/index.ts';
import { unlinkAccount } from './unlink.ts';

export const unlinkProvider = mutation({
  name: 'user.unlinkProvider',
  summary: 'Unlink your account from the identity provider; signing in needs the password again',
  role: 'VIEWER',
  audit: 'user.providerUnlinked',
  input: NoInput,
  output: Done,
  scope: () => ownScope,
  async run(ctx) {
    if (ctx.actor.type !== 'user') throw forbidden('Only a signed-in user has an account');
    const { userId, sessionId } = ctx.actor;
    // Lock order: the group rules come before all other locks.
    await lockRulesShared(ctx.db);
    const user = await lockUserRow(ctx.db, userId);
    if (!user || !hasValidPassword(user, ctx.clock.now()))
      throw preconditionFailed(
        'The identity provider is your only way to sign in: without the link you could not sign in any more',
      );
    const unlinked = await unlinkAccount(ctx, user);
    if (unlinked === null) throw preconditionFailed("No identity provider's account is linked to yours");
    await endSessions(ctx, [userId], sessionId);
    ctx.audit({ entityType: 'User', entityId: userId, metadata: unlinked });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
    return { ok: true as const };
  },
});
