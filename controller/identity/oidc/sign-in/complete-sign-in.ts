/** Whoever a provider vouches for becomes an account with a session, or is told why not: all of it, or nothing. */
import type { ProviderOptions } from '../../../../schemas/api/identity-providers.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Actor, Context } from '../../../platform/operation/context.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import {
  findUser,
  findUserByEmail,
  insertUser,
  lockUserRow,
  openSession,
  type SignedIn,
  type User,
  updateUser,
} from '../../access/index.ts';
import { lockRulesShared, membershipsForAudit } from '../../directory/index.ts';
import {
  findDeletedByExternalId,
  findKeptByExternalId,
  findUserIdOf,
  insertIdentity,
  isKeptByScim,
  isKnownTo,
} from '../links/identities-store.ts';
import { decide, type Found, type Problem, type Verdict } from '../links/link-decision.ts';
import { mayBeRelinked } from '../links/relink-rule.ts';
import { forbidRelink } from '../links/relink-store.ts';
import { retryIfTaken } from '../links/retry-if-taken.ts';
import type { ProviderIdentity } from '../provider/provider-request.ts';
import { lockOidcProviderShared, type OidcProvider } from '../provider/provider-store.ts';
import { confirmAtSignIn } from '../refresh/confirmations-store.ts';
import { exclusionOf } from './group-rules.ts';
import { takeGroups } from './store-groups.ts';
import { followSuperAdmins } from './super-admins.ts';

export type Vouched = ProviderIdentity & { provider: OidcProvider };

export function completeSignIn(
  ctx: Context,
  told: Vouched,
  userAgent: string | null,
): Promise<{ type: 'signed-in'; signedIn: SignedIn } | { problem: Problem }> {
  return retryIfTaken(() =>
    ctx.db.transaction(async (tx) => {
      const inside = { ...ctx, db: tx };
      // Before all other locks, as wherever groups are looked at.
      await lockRulesShared(tx);
      const provider = await lockOidcProviderShared(tx, told.provider);
      if (!provider) return { problem: 'oidc_expired' as const };
      const excluded = exclusionOf(provider.options, told);
      if (excluded !== null) {
        const { problem, reason } = excluded;
        await refuse(inside, told, problem, await findUserIdOf(tx, told), reason);
        return { problem };
      }
      const verdict = decide(await find(inside, told), told.profile);
      if (verdict.type === 'problem') {
        // Without userinfo the address is not missing: nobody could ask for it.
        const problem =
          verdict.problem === 'no_email' && told.incomplete ? 'oidc_unavailable' : verdict.problem;
        await refuse(inside, told, problem, verdict.userId);
        return { problem };
      }
      const userId =
        verdict.type === 'provision' ? await provision(inside, told, verdict.email) : verdict.user.id;
      if (verdict.type === 'adopt') await adopt(inside, told, verdict);
      if (verdict.type === 'known') await follow(inside, told, verdict.user);
      await confirmAtSignIn(inside, told, told.refreshToken);
      const { issuer } = told;
      const { memberships, note } = await takeGroups(inside, { userId, issuer }, told.groups);
      await followSuperAdmins(inside, provider, [userId]);
      const user = await findUser(tx, userId);
      if (!user) throw new Error('an account is gone while its row is locked');
      const signedIn = await openSession(inside, user, {
        ...{ method: 'oidc', userAgent },
        metadata: {
          ...(told.missingClaim === null ? {} : { missingClaim: told.missingClaim }),
          ...{ ...note, ...membershipsForAudit(memberships) },
        },
        secondFactor: isMetAt(provider.options, told) ? 'provider' : null,
        provider: { issuer, subject: told.subject, sid: told.sid },
        ...(told.idToken === undefined ? {} : { idToken: told.idToken }),
      });
      return { type: 'signed-in' as const, signedIn };
    }),
  );
}

/** Whether a second factor is the provider's: otherwise it is asked for here, where a team requires one. */
const isMetAt = ({ secondFactor }: ProviderOptions, { hasSecondFactor }: ProviderIdentity): boolean =>
  secondFactor === 'PROVIDER' || (secondFactor === 'CLAIMS' && hasSecondFactor);

/** Locks the account that it finds. */
async function find({ db: tx, clock }: Context, told: Vouched): Promise<Found> {
  const nobody = { linked: null, sameExternalId: null, sameAddress: null };
  const linkedId = await findUserIdOf(tx, told);
  const linked = linkedId === null ? null : await lockUserRow(tx, linkedId);
  // Its link may have been taken away until it was locked.
  if (linked && (await findUserIdOf(tx, told)) === linked.id) return { ...nobody, linked };
  const { keepsScim } = told.provider.options;
  const keptId = keepsScim ? await findKeptByExternalId(tx, told.subject) : null;
  const kept = keptId === null ? null : await lockUserRow(tx, keptId);
  if (kept && (await findKeptByExternalId(tx, told.subject)) === kept.id) {
    if ((await findUserIdOf(tx, told)) === kept.id) return { ...nobody, linked: kept };
    const linkedHere = await isKnownTo(tx, told.issuer, kept.id);
    return { ...nobody, sameExternalId: { user: kept, linkedHere } };
  }
  // Whom SCIM has deleted does not come back as somebody new.
  const deletedId = keepsScim && keptId === null ? await findDeletedByExternalId(tx, told.subject) : null;
  const deleted = deletedId === null ? null : await lockUserRow(tx, deletedId);
  if (deleted?.lockedAt) return { ...nobody, linked: deleted };
  const { email } = told.profile;
  const found = email === null ? null : await findUserByEmail(tx, email);
  const user = found && (await lockUserRow(tx, found.id));
  // It may have got another address until it was locked.
  if (!user || user.email.toLowerCase() !== email?.toLowerCase()) return nobody;
  // Another sign-in of theirs may have made the account since we looked for a link.
  if ((await findUserIdOf(tx, told)) === user.id) return { ...nobody, linked: user };
  const keptByScim = keepsScim && (await isKeptByScim(tx, user.id));
  const linkedHere = await isKnownTo(tx, told.issuer, user.id);
  const unlinked = mayBeRelinked(user, clock.now());
  return { ...nobody, sameAddress: { user, keptByScim, linkedHere, unlinked } };
}

const self = ({ id, email, name }: Pick<User, 'id' | 'email' | 'name'>): Actor => ({
  ...{ type: 'user', userId: id, email, name },
  ...{ isSuperAdmin: false, roles: new Map(), sessionId: '', owes: null },
});

async function provision(ctx: Context, told: Vouched, email: string): Promise<string> {
  const name = told.profile.name ?? email.slice(0, email.indexOf('@')).slice(0, 100);
  const id = await insertUser(ctx.db, {
    ...{ email, name, passwordHash: null, isSuperAdmin: false, authMethod: 'OIDC' },
  });
  await insertIdentity(ctx.db, told, id);
  await writeAudit(
    { ...ctx, actor: self({ id, email, name }) },
    ownScope,
    [{ entityType: 'User', entityId: id, metadata: { issuer: told.issuer, email, name } }],
    'user.provisioned',
  );
  await pagesChanged(ctx);
  return id;
}

async function adopt(
  ctx: Context,
  told: Vouched,
  { user, by }: Extract<Verdict, { type: 'adopt' }>,
): Promise<void> {
  await insertIdentity(ctx.db, told, user.id);
  if (user.authMethod !== 'OIDC') await updateUser(ctx.db, user.id, { authMethod: 'OIDC' });
  await forbidRelink(ctx.db, user.id);
  await writeAudit(
    { ...ctx, actor: self(user) },
    ownScope,
    [{ entityType: 'User', entityId: user.id, metadata: { issuer: told.issuer, subject: told.subject, by } }],
    'user.providerLinked',
  );
  await pagesChanged(ctx);
}

/** The names and addresses of those who sign in there, unless SCIM tells them. */
async function follow(ctx: Context, { profile }: Vouched, user: User): Promise<void> {
  if (user.authMethod !== 'OIDC' || (await isKeptByScim(ctx.db, user.id))) return;
  const { email, emailVerified, name } = profile;
  const change: { email?: string; name?: string } = {};
  if (name !== null && name !== user.name) change.name = name;
  if (email !== null && email !== user.email && emailVerified === true) {
    const owner = await findUserByEmail(ctx.db, email);
    if (!owner || owner.id === user.id) change.email = email;
  }
  if (Object.keys(change).length === 0) return;
  await updateUser(ctx.db, user.id, change);
  await writeAudit(
    { ...ctx, actor: self(user) },
    ownScope,
    [
      {
        ...{ entityType: 'User', entityId: user.id, metadata: { by: 'provider' } },
        diff: {
          ...(change.name === undefined ? {} : { name: [user.name, change.name] }),
          ...(change.email === undefined ? {} : { email: [user.email, change.email] }),
        },
      },
    ],
    'user.profileUpdated',
  );
  // Pages of theirs show the old name.
  await ctx.services.bus.publish(ctx.db, { type: 'user', userId: user.id });
  await pagesChanged(ctx);
}

async function refuse(
  ctx: Context,
  { issuer, subject, profile }: Vouched,
  problem: Problem,
  userId: string | null,
  reason: string | null = null,
): Promise<void> {
  const user = userId === null ? null : await findUser(ctx.db, userId);
  const metadata = {
    ...{ method: 'oidc', problem, issuer, subject },
    ...(reason && { reason }),
    ...(user ? { name: user.name, email: user.email } : { email: profile.email }),
  };
  await writeAudit(ctx, ownScope, [{ entityType: 'User', entityId: userId, metadata }], 'user.signInFailed');
}

const pagesChanged = (ctx: Context): Promise<void> =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
