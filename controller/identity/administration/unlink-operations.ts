/** Super admins take links to identity providers' accounts away: of one account, or of everybody whom an issuer has named. */
import { AccountsUnlinked, Done, UnlinkIssuer, UnlinkUser } from '../../../schemas/api/people.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import {
  countSuperAdmins,
  deletePersonalTokensOf,
  findUser,
  lockUsers,
  signsInByPassword,
} from '../access/index.ts';
import { lockRulesShared } from '../directory/index.ts';
import { allowRelinkOf, mayBeRelinked, unlinkAccount, unlinkAllOf } from '../oidc/index.ts';
import { aboutUser, assertNotLastSuperAdmin, claimAccount, endSessionsOf, notifyUi } from './accounts.ts';

export const unlinkProvider = mutation({
  name: 'admin.unlinkProvider',
  summary: "Unlink the identity provider's account from somebody's; sessions and personal tokens end",
  role: 'SUPER_ADMIN',
  audit: 'user.providerUnlinked',
  input: UnlinkUser,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { userId, issuer }) {
    if (ctx.actor.type === 'user' && ctx.actor.userId === userId)
      throw preconditionFailed('That is your own account: unlink it in your own settings, under “You”');
    // Before all other locks, as wherever groups are looked at.
    await lockRulesShared(ctx.db);
    const user = await claimAccount(ctx, userId);
    const now = ctx.clock.now();
    const unlinked = await unlinkAccount(ctx, user, issuer ?? null);
    // Unlinked a while ago, and not joined since: it may be joined once more.
    const renewed = unlinked === null && user.relinkAllowedAt !== null && !mayBeRelinked(user, now);
    if (unlinked === null && !renewed)
      throw preconditionFailed(`No identity provider's account is linked to ${user.email}`);
    if (user.passwordHash !== null && !signsInByPassword(user, now))
      throw preconditionFailed(
        `${user.email} has a password that has expired: reset the password first, or nobody could sign in any more`,
      );
    const relinkable = (await allowRelinkOf(ctx.db, [userId], new Date(now))) > 0;
    await assertNotLastSuperAdmin(ctx, user);
    await endSessionsOf(ctx, [userId]);
    // Whoever came in by the link may have made some.
    const tokensDeleted = await deletePersonalTokensOf(ctx.db, userId);
    ctx.audit(
      aboutUser(user, { metadata: { ...unlinked, tokensDeleted, ...(relinkable && { relinkable }) } }),
    );
    await notifyUi(ctx);
    return { ok: true as const };
  },
});

export const unlinkIssuer = mutation({
  name: 'admin.unlinkIssuer',
  summary: 'Unlink every account of an issuer; those without a password are joined by a verified sign-in',
  role: 'SUPER_ADMIN',
  audit: 'user.issuerUnlinked',
  input: UnlinkIssuer,
  output: AccountsUnlinked,
  scope: () => ownScope,
  async run(ctx, { issuer }) {
    // Before all other locks, as wherever groups are looked at.
    await lockRulesShared(ctx.db);
    await lockUsers(ctx.db);
    const { userIds, relinkable, memberships } = await unlinkAllOf(ctx, issuer);
    if (userIds.length === 0) throw preconditionFailed(`No account is linked to ${issuer}`);
    const own = ctx.actor.type === 'user' ? ctx.actor.userId : null;
    const self = own !== null && userIds.includes(own) ? await findUser(ctx.db, own) : null;
    if (self && !signsInByPassword(self, ctx.clock.now()))
      throw preconditionFailed(
        'You sign in by this issuer yourself, and have no password: another super admin, who has one, can do this',
      );
    if ((await countSuperAdmins(ctx.db, ctx.clock.now())) === 0)
      throw preconditionFailed(
        'No super admin could sign in any more: make somebody who has a password a super admin first',
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
