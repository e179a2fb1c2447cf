/** What somebody says of their own account at a provider. */
import { NoInput } from '../../../../schemas/api/common.ts';
import { Done } from '../../../../schemas/api/people.ts';
import { forbidden, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../../platform/operation/operation.ts';
import { endSessions, lockUserRow, signsInByPassword } from '../../access/index.ts';
import { lockRulesShared } from '../../directory/index.ts';
import { unlinkAccount } from './unlink.ts';

export const unlinkProvider = mutation({
  name: 'user.unlinkProvider',
  summary: "Unlink the identity provider's account from one's own; signing in needs the password again",
  role: 'VIEWER',
  audit: 'user.providerUnlinked',
  input: NoInput,
  output: Done,
  scope: () => ownScope,
  async run(ctx) {
    if (ctx.actor.type !== 'user') throw forbidden('Only a signed-in user has an account');
    const { userId, sessionId } = ctx.actor;
    // Before all other locks, as wherever groups are looked at.
    await lockRulesShared(ctx.db);
    const user = await lockUserRow(ctx.db, userId);
    if (!user || !signsInByPassword(user, ctx.clock.now()))
      throw preconditionFailed(
        'You sign in at the identity provider and by nothing else: unlinked, you could not sign in any more',
      );
    const unlinked = await unlinkAccount(ctx, user);
    if (unlinked === null) throw preconditionFailed("No identity provider's account is linked to yours");
    await endSessions(ctx, [userId], sessionId);
    ctx.audit({ entityType: 'User', entityId: userId, metadata: unlinked });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
    return { ok: true as const };
  },
});
