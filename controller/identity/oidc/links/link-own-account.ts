/** Links the signed-in user's account to the provider's account with which they have just signed in there. */

import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { findSessionOwner, lockUserRow } from '../../access/index.ts';
import { lockRulesShared, membershipsForAudit } from '../../directory/index.ts';
import { lockOidcProviderShared } from '../provider/provider-store.ts';
import { confirmAtSignIn } from '../refresh/confirmations-store.ts';
import type { VerifiedSignIn } from '../sign-in/complete-sign-in.ts';
import { exclusionOf } from '../sign-in/group-rules.ts';
import { storeGroups } from '../sign-in/store-groups.ts';
import { reconcileSuperAdmins } from '../sign-in/super-admins.ts';
import { findLinkedUserId, insertIdentity, isLinkedAt } from './identities-store.ts';
import type { Problem } from './link-decision.ts';
import { retryOnConflict } from './retry-on-conflict.ts';

/** Rejects a provider's account that is linked to another user, and a second one for the same user. */
export function linkOwnAccount(
  ctx: Context,
  verified: VerifiedSignIn,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<{ type: 'linked' } | { problem: Problem }> {
  return retryOnConflict(() =>
    ctx.db.transaction(async (tx) => {
      const inside = { ...ctx, db: tx };
      // Lock order: the group rules come before all other locks.
      await lockRulesShared(tx);
      const provider = await lockOidcProviderShared(tx, verified.provider);
      if (!provider) return { problem: 'oidc_expired' as const };
      const excluded = exclusionOf(provider.options, verified);
      if (excluded !== null) return { problem: excluded.problem };
      const user = await lockUserRow(tx, userId);
      if (!user || user.lockedAt) return { problem: 'account_locked' as const };
      // A reset of the account may have ended the session meanwhile. A link would outlive the reset.
      if (!(await findSessionOwner(tx, sessionId))) return { problem: 'oidc_expired' as const };
      const owner = await findLinkedUserId(tx, verified);
      if (owner === userId) {
        await confirmAtSignIn(inside, verified, verified.refreshToken);
        return { type: 'linked' as const };
      }
      if (owner !== null || (await isLinkedAt(tx, verified.issuer, userId)))
        return { problem: 'already_linked' as const };
      await insertIdentity(tx, verified, userId);
      await confirmAtSignIn(inside, verified, verified.refreshToken);
      const { memberships, note } = await storeGroups(
        inside,
        { userId, issuer: verified.issuer },
        verified.groups,
      );
      await reconcileSuperAdmins(inside, provider, [userId]);
      await writeAudit(
        inside,
        ownScope,
        [
          {
            ...{ entityType: 'User', entityId: userId },
            metadata: {
              issuer: verified.issuer,
              subject: verified.subject,
              ...note,
              ...membershipsForAudit(memberships),
            },
          },
        ],
        'user.providerLinked',
      );
      await ctx.services.bus.publish(tx, { type: 'ui', environmentId: null, topics: ['teams'] });
      return { type: 'linked' as const };
    }),
  );
}
