/** Somebody who is signed in links the provider's account that they have just signed in to. */

import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { findSessionOwner, lockUserRow } from '../../access/index.ts';
import { lockRulesShared, membershipsForAudit } from '../../directory/index.ts';
import { lockOidcProviderShared } from '../provider/provider-store.ts';
import { confirmAtSignIn } from '../refresh/confirmations-store.ts';
import type { Vouched } from '../sign-in/complete-sign-in.ts';
import { exclusionOf } from '../sign-in/group-rules.ts';
import { takeGroups } from '../sign-in/store-groups.ts';
import { followSuperAdmins } from '../sign-in/super-admins.ts';
import { findUserIdOf, insertIdentity, isKnownTo } from './identities-store.ts';
import type { Problem } from './link-decision.ts';
import { retryIfTaken } from './retry-if-taken.ts';

/** Refuses an account there that somebody else has, and a second one of the same person. */
export function linkOwn(
  ctx: Context,
  told: Vouched,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<{ type: 'linked' } | { problem: Problem }> {
  return retryIfTaken(() =>
    ctx.db.transaction(async (tx) => {
      const inside = { ...ctx, db: tx };
      // Before all other locks, as wherever groups are looked at.
      await lockRulesShared(tx);
      const provider = await lockOidcProviderShared(tx, told.provider);
      if (!provider) return { problem: 'oidc_expired' as const };
      const excluded = exclusionOf(provider.options, told);
      if (excluded !== null) return { problem: excluded.problem };
      const user = await lockUserRow(tx, userId);
      if (!user || user.lockedAt) return { problem: 'account_locked' as const };
      // While the provider was asked it may have ended, by a reset of the account: the link would outlive that.
      if (!(await findSessionOwner(tx, sessionId))) return { problem: 'oidc_expired' as const };
      const owner = await findUserIdOf(tx, told);
      if (owner === userId) {
        await confirmAtSignIn(inside, told, told.refreshToken);
        return { type: 'linked' as const };
      }
      if (owner !== null || (await isKnownTo(tx, told.issuer, userId)))
        return { problem: 'already_linked' as const };
      await insertIdentity(tx, told, userId);
      await confirmAtSignIn(inside, told, told.refreshToken);
      const { memberships, note } = await takeGroups(inside, { userId, issuer: told.issuer }, told.groups);
      await followSuperAdmins(inside, provider, [userId]);
      await writeAudit(
        inside,
        ownScope,
        [
          {
            ...{ entityType: 'User', entityId: userId },
            metadata: {
              issuer: told.issuer,
              subject: told.subject,
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
