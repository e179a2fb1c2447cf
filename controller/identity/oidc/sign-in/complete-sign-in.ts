/** Turns the verified identity of a user into a session with an account, or into a problem, in one transaction. */
import type { ProviderOptions } from '../../../../schemas/api/identity/identity-providers.ts';
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
  findDeletedScimUserId,
  findLinkedUserId,
  findScimUserId,
  insertIdentity,
  isLinkedAt,
  isManagedByScim,
} from '../links/identities-store.ts';
import { type Candidates, decideLink, type LinkDecision, type Problem } from '../links/link-decision.ts';
import { mayBeRelinked } from '../links/relink-rule.ts';
import { forbidRelink } from '../links/relink-store.ts';
import { retryOnConflict } from '../links/retry-on-conflict.ts';
import type { ProviderIdentity } from '../provider/provider-request.ts';
import { lockOidcProviderShared, type OidcProvider } from '../provider/provider-store.ts';
import { confirmAtSignIn } from '../refresh/confirmations-store.ts';
import { exclusionOf } from './group-rules.ts';
import { storeGroups } from './store-groups.ts';
import { reconcileSuperAdmins } from './super-admins.ts';

export type VerifiedSignIn = ProviderIdentity & { provider: OidcProvider };

export function completeSignIn(
  ctx: Context,
  verified: VerifiedSignIn,
  userAgent: string | null,
): Promise<{ type: 'signed-in'; signedIn: SignedIn } | { problem: Problem }> {
  return retryOnConflict(() =>
    ctx.db.transaction(async (tx) => {
      const inside = { ...ctx, db: tx };
      // Lock order: the group rules come before all other locks.
      await lockRulesShared(tx);
      const provider = await lockOidcProviderShared(tx, verified.provider);
      if (!provider) return { problem: 'oidc_expired' as const };
      const excluded = exclusionOf(provider.options, verified);
      if (excluded !== null) {
        const { problem, reason } = excluded;
        await recordRefusal(inside, verified, problem, await findLinkedUserId(tx, verified), reason);
        return { problem };
      }
      const decision = decideLink(await findCandidates(inside, verified), verified.profile);
      if (decision.type === 'problem') {
        // Without userinfo the address is unknown, not missing.
        const problem =
          decision.problem === 'no_email' && verified.incomplete ? 'oidc_unavailable' : decision.problem;
        await recordRefusal(inside, verified, problem, decision.userId);
        return { problem };
      }
      const userId =
        decision.type === 'provision'
          ? await createAccount(inside, verified, decision.email)
          : decision.user.id;
      if (decision.type === 'adopt') await linkAccount(inside, verified, decision);
      if (decision.type === 'known') await updateProfile(inside, verified, decision.user);
      await confirmAtSignIn(inside, verified, verified.refreshToken);
      const { issuer } = verified;
      const { memberships, note } = await storeGroups(inside, { userId, issuer }, verified.groups);
      await reconcileSuperAdmins(inside, provider, [userId]);
      const user = await findUser(tx, userId);
      if (!user) throw new Error('an account disappeared while its row was locked');
      const signedIn = await openSession(inside, user, {
        ...{ method: 'oidc', userAgent },
        metadata: {
          ...(verified.missingClaim === null ? {} : { missingClaim: verified.missingClaim }),
          ...{ ...note, ...membershipsForAudit(memberships) },
        },
        secondFactor: isProvedAtProvider(provider.options, verified) ? 'provider' : null,
        provider: { issuer, subject: verified.subject, sid: verified.sid },
        ...(verified.idToken === undefined ? {} : { idToken: verified.idToken }),
      });
      return { type: 'signed-in' as const, signedIn };
    }),
  );
}

/** Whether the second factor counts as proved at the provider. Otherwise it is required here, where a team requires one. */
const isProvedAtProvider = (
  { secondFactor }: ProviderOptions,
  { hasSecondFactor }: ProviderIdentity,
): boolean => secondFactor === 'PROVIDER' || (secondFactor === 'CLAIMS' && hasSecondFactor);

/** Finds the accounts that the sign-in could get, and locks the one that it returns. */
async function findCandidates({ db: tx, clock }: Context, verified: VerifiedSignIn): Promise<Candidates> {
  const nobody = { linked: null, sameExternalId: null, sameAddress: null };
  const linkedId = await findLinkedUserId(tx, verified);
  const linked = linkedId === null ? null : await lockUserRow(tx, linkedId);
  // The link may have been removed before the row was locked.
  if (linked && (await findLinkedUserId(tx, verified)) === linked.id) return { ...nobody, linked };
  const { keepsScim } = verified.provider.options;
  const scimUserId = keepsScim ? await findScimUserId(tx, verified.subject) : null;
  const scimUser = scimUserId === null ? null : await lockUserRow(tx, scimUserId);
  if (scimUser && (await findScimUserId(tx, verified.subject)) === scimUser.id) {
    if ((await findLinkedUserId(tx, verified)) === scimUser.id) return { ...nobody, linked: scimUser };
    const linkedHere = await isLinkedAt(tx, verified.issuer, scimUser.id);
    return { ...nobody, sameExternalId: { user: scimUser, linkedHere } };
  }
  // A user that SCIM has deleted must not come back as a new account.
  const deletedId =
    keepsScim && scimUserId === null ? await findDeletedScimUserId(tx, verified.subject) : null;
  const deleted = deletedId === null ? null : await lockUserRow(tx, deletedId);
  if (deleted?.lockedAt) return { ...nobody, linked: deleted };
  const { email } = verified.profile;
  const found = email === null ? null : await findUserByEmail(tx, email);
  const user = found && (await lockUserRow(tx, found.id));
  // The address may have changed before the row was locked.
  if (!user || user.email.toLowerCase() !== email?.toLowerCase()) return nobody;
  // A concurrent sign-in may have created and linked the account.
  if ((await findLinkedUserId(tx, verified)) === user.id) return { ...nobody, linked: user };
  const managedByScim = keepsScim && (await isManagedByScim(tx, user.id));
  const linkedHere = await isLinkedAt(tx, verified.issuer, user.id);
  const unlinked = mayBeRelinked(user, clock.now());
  return { ...nobody, sameAddress: { user, managedByScim, linkedHere, unlinked } };
}

const userActor = ({ id, email, name }: Pick<User, 'id' | 'email' | 'name'>): Actor => ({
  ...{ type: 'user', userId: id, email, name },
  ...{ isSuperAdmin: false, roles: new Map(), sessionId: '', requiredAction: null },
});

async function createAccount(ctx: Context, verified: VerifiedSignIn, email: string): Promise<string> {
  const name = verified.profile.name ?? email.slice(0, email.indexOf('@')).slice(0, 100);
  const id = await insertUser(ctx.db, {
    ...{ email, name, passwordHash: null, isSuperAdmin: false, authMethod: 'OIDC' },
  });
  await insertIdentity(ctx.db, verified, id);
  await writeAudit(
    { ...ctx, actor: userActor({ id, email, name }) },
    ownScope,
    [{ entityType: 'User', entityId: id, metadata: { issuer: verified.issuer, email, name } }],
    'user.provisioned',
  );
  await notifyUi(ctx);
  return id;
}

async function linkAccount(
  ctx: Context,
  verified: VerifiedSignIn,
  { user, by }: Extract<LinkDecision, { type: 'adopt' }>,
): Promise<void> {
  await insertIdentity(ctx.db, verified, user.id);
  if (user.authMethod !== 'OIDC') await updateUser(ctx.db, user.id, { authMethod: 'OIDC' });
  await forbidRelink(ctx.db, user.id);
  await writeAudit(
    { ...ctx, actor: userActor(user) },
    ownScope,
    [
      {
        entityType: 'User',
        entityId: user.id,
        metadata: { issuer: verified.issuer, subject: verified.subject, by },
      },
    ],
    'user.providerLinked',
  );
  await notifyUi(ctx);
}

/** Updates name and address from the provider, unless SCIM manages them. */
async function updateProfile(ctx: Context, { profile }: VerifiedSignIn, user: User): Promise<void> {
  if (user.authMethod !== 'OIDC' || (await isManagedByScim(ctx.db, user.id))) return;
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
    { ...ctx, actor: userActor(user) },
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
  // The user's open pages display the old name.
  await ctx.services.bus.publish(ctx.db, { type: 'user', userId: user.id });
  await notifyUi(ctx);
}

async function recordRefusal(
  ctx: Context,
  { issuer, subject, profile }: VerifiedSignIn,
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

const notifyUi = (ctx: Context): Promise<void> =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
