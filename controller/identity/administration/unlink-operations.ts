/** Super admins unlink accounts from identity providers: one account, or all accounts of an issuer. */
import { AccountsUnlinked, Done, UnlinkIssuer, UnlinkUser } from '../../../schemas/api/identity/people.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import {
  countSuperAdmins,
  deletePersonalTokensOf,
  findUser,
  hasValidPassword,
  lockUsers,
} from '../access/index.ts';
import { lockRulesShared } from '../directory/index.ts';
import { allowRelink, mayBeRelinked, unlinkAccount, unlinkAllAccounts } from '../oidc/index.ts';
import { assertNotLastSuperAdmin, claimAccount, endSessionsOf, notifyUi, userEntry } from './accounts.ts';

export const unlinkProvider = mutation({
  name: 'admin.unlinkProvider',
  summary: "Unlink a user's account from the identity provider; sessions and personal tokens end",
  role: 'SUPER_ADMIN',
  audit: 'user.providerUnlinked',
  input: UnlinkUser,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { userId, issuer }) {
    if (ctx.actor.type === 'user' && ctx.actor.userId === userId)
      throw preconditionFailed('This is your own account: unlink it in your own settings, under “You”');
    // Lock order: the group rules come before all other locks.
    await lockRulesShared(ctx.db);
    const user = await claimAccount(ctx, userId);
    const now = ctx.clock.now();
    const unlinked = await unlinkAccount(ctx, user, issuer ?? null);
    // Unlinked earlier and not linked again in time: the permission to link is renewed.
    const renewed = unlinked === null && user.relinkAllowedAt !== null && !mayBeRelinked(user, now);
    if (unlinked === null && !renewed)
      throw preconditionFailed(`No identity provider's account is linked to ${user.email}`);
    if (user.passwordHash !== null && !hasValidPassword(user, now))
      throw preconditionFailed(
        `The password of ${user.email} has expired: reset it first, or the user could not sign in any more`,
      );
    const relinkable = (await allowRelink(ctx.db, [userId], new Date(now))) > 0;
    await assertNotLastSuperAdmin(ctx, user);
    await endSessionsOf(ctx, [userId]);
    // Somebody who signed in by the link may have created tokens.
    const tokensDeleted = await deletePersonalTokensOf(ctx.db, userId);
    ctx.audit(
      userEntry(user, { metadata: { ...unlinked, tokensDeleted, ...(relinkable && { relinkable }) } }),
    );
    await notifyUi(ctx);
    return { ok: true as const };
  },
});

export const unlinkIssuer = mutation({
  name: 'admin.unlinkIssuer',
  summary:
    'Unlink every account of an issuer; accounts without a password are linked again by a verified sign-in',
  role: 'SUPER_ADMIN',
  audit: 'user.issuerUnlinked',
  input: UnlinkIssuer,
  output: AccountsUnlinked,
  scope: () => ownScope,
  async run(ctx, { issuer }) {
    // Lock order: the group rules come before all other locks.
    await lockRulesShared(ctx.db);
    await lockUsers(ctx.db);
    const { userIds, relinkable, memberships } = await unlinkAllAccounts(ctx, issuer);
    if (userIds.length === 0) throw preconditionFailed(`No account is linked to ${issuer}`);
    const own = ctx.actor.type === 'user' ? ctx.actor.userId : null;
    const self = own !== null && userIds.includes(own) ? await findUser(ctx.db, own) : null;
    if (self && !hasValidPassword(self, ctx.clock.now()))
      throw preconditionFailed(
        'You sign in with this issuer yourself and have no password: ask another super admin who has one',
      );
    if ((await countSuperAdmins(ctx.db, ctx.clock.now())) === 0)
      throw preconditionFailed(
        'No super admin could sign in any more: make a user with a password a super admin first',
      );
    await endSessionsOf(ctx, userIds);
    ctx.audit({
      ...{ entityType: 'Settings', entityId: 'oidc' },
      metadata: { issuer, unlinked: userIds.length, relinkable, ...memberships },
    });
    await notifyUi(ctx);
    return { unlinked: userIds.length, relinkable };
  },
});
