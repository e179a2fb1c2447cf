/** The identity provider, as super admins set it up; and what somebody says of their own account there. */
import { NoInput } from '../../schemas/api/common.ts';
import { Done } from '../../schemas/api/people.ts';
import { OidcIssuer, OidcTest, UpdateOidc } from '../../schemas/api/settings.ts';
import { endSessions, lockUserRow, signsInByPassword } from '../access/index.ts';
import { holdRules } from '../directory/index.ts';
import type { Context, MutationContext } from '../platform/context.ts';
import { badRequest, forbidden, messageOf, preconditionFailed } from '../platform/errors.ts';
import { mutation, ownScope } from '../platform/operation.ts';
import { OutgoingError } from '../platform/outgoing/index.ts';
import { sealedPlace } from '../platform/sealed-columns.ts';
import { testIssuer } from './discovery.ts';
import {
  countSuperAdminsWithPassword,
  deleteOidcSettings,
  deleteProviderSessions,
  lockOidcSettings,
  type OidcSettings,
  writeOidcSettings,
} from './store.ts';
import { unlinkAccount } from './unlink.ts';

const SETTING = { entityType: 'Settings', entityId: 'oidc' };
/** In place of a secret that is stored. */
const MASK = '********';

/** @throws BAD_REQUEST for an issuer that cannot be one, or that must not be asked. */
async function checkIssuer(ctx: Context, issuer: string): Promise<void> {
  if (/[?#\s]/.test(issuer))
    throw badRequest('issuer: give the address alone, without spaces, ? and #, as the provider shows it');
  try {
    await ctx.services.outgoing.check(issuer);
  } catch (error) {
    if (error instanceof OutgoingError) throw badRequest(`issuer: ${messageOf(error)}`);
    throw error;
  }
}

/** Without what may be a password in it: nothing was refused yet. */
function shownIssuer(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (!url || url.origin === 'null') return null;
  const more = `${url.username}${url.password}${url.search}${url.hash}`;
  return more === '' ? issuer : `${url.origin}${url.pathname}`;
}

export const testOidc = mutation({
  name: 'settings.testOidc',
  summary: 'Ask an identity provider what it says of itself, and tell what would keep people from signing in',
  role: 'SUPER_ADMIN',
  audit: 'settings.oidcTested',
  input: OidcIssuer,
  output: OidcTest,
  scope: () => ownScope,
  prepare: (ctx, input) => testIssuer(ctx.services.outgoing, input.issuer),
  async run(ctx, input, found) {
    ctx.audit({ ...SETTING, metadata: { issuer: shownIssuer(input.issuer), ok: found.ok } });
    return found;
  },
});

export const updateOidc = mutation({
  name: 'settings.updateOidc',
  summary: 'Have people sign in at an identity provider',
  role: 'SUPER_ADMIN',
  audit: 'settings.oidcUpdated',
  input: UpdateOidc,
  output: Done,
  scope: () => ownScope,
  prepare: (ctx, input) => checkIssuer(ctx, input.issuer),
  async run(ctx, input) {
    const before = await lockOidcSettings(ctx.db);
    const after: OidcSettings = {
      issuer: input.issuer,
      clientId: input.clientId,
      displayName: input.displayName?.trim() || null,
      tokenEndpointAuthMethod: input.tokenEndpointAuthMethod ?? 'client_secret_basic',
      sealedClientSecret: secretOf(ctx, input, before),
    };
    await writeOidcSettings(ctx.db, after);
    if (before && before.issuer !== after.issuer) await endProviderSessions(ctx);
    const names = ['issuer', 'clientId', 'displayName', 'tokenEndpointAuthMethod'] as const;
    const changed = names.filter((name) => before?.[name] !== after[name]);
    ctx.audit({
      ...SETTING,
      diff: Object.fromEntries(changed.map((name) => [name, [before?.[name] ?? null, after[name]]])),
      metadata: { clientSecretChanged: before?.sealedClientSecret !== after.sealedClientSecret },
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return { ok: true as const };
  },
});

/** Null for a public client. */
function secretOf(ctx: Context, input: UpdateOidc, before: OidcSettings | null): string | null {
  const given = input.clientSecret === MASK ? '' : input.clientSecret;
  if (input.tokenEndpointAuthMethod === 'none') {
    if (given !== '')
      throw badRequest('clientSecret: leave it empty for a client without one, or choose another method');
    return null;
  }
  if (given !== '')
    return ctx.services.keyring.seal(given, sealedPlace('oidc_settings', 'oidc', 'sealed_client_secret'));
  const same = before?.issuer === input.issuer && before.clientId === input.clientId;
  if (same && before.sealedClientSecret !== null) return before.sealedClientSecret;
  throw badRequest(
    'clientSecret: give the secret of this client; none is stored for this issuer and client id',
  );
}

/** @throws PRECONDITION_FAILED where nobody could administer the server afterwards. */
async function endProviderSessions(ctx: MutationContext): Promise<void> {
  if ((await countSuperAdminsWithPassword(ctx.db, ctx.clock.now())) === 0)
    throw preconditionFailed(
      'Every super admin signs in at this provider and by nothing else; make somebody who has a password a super admin first, or nobody could change it back',
    );
  const userIds = await deleteProviderSessions(ctx.db);
  for (const userId of userIds.slice(0, 20)) await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
  if (userIds.length > 20)
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}

export const disableOidc = mutation({
  name: 'settings.disableOidc',
  summary: 'Let nobody sign in at the identity provider any more; who is linked to whom there stays known',
  role: 'SUPER_ADMIN',
  audit: 'settings.oidcDisabled',
  input: NoInput,
  output: Done,
  scope: () => ownScope,
  async run(ctx) {
    const before = await lockOidcSettings(ctx.db);
    if (!before) {
      ctx.audit(SETTING);
      return { ok: true as const };
    }
    await deleteOidcSettings(ctx.db);
    await endProviderSessions(ctx);
    ctx.audit({
      ...SETTING,
      diff: { issuer: [before.issuer, null], clientId: [before.clientId, null] },
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return { ok: true as const };
  },
});

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
    await holdRules(ctx.db);
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
