/** Identity providers, as super admins set them up. */
import {
  DisableOidc,
  FIRST_PROVIDER,
  OidcTest,
  ProviderSaved,
  TestOidc,
  UpdateOidc,
} from '../../../../schemas/api/identity-providers.ts';
import { Done } from '../../../../schemas/api/people.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { mutation, ownScope } from '../../../platform/operation/operation.ts';
import { redirectUri } from '../sign-in/sign-in.ts';
import { type Tried, tryOut } from '../sign-in/test-sign-in.ts';
import { openClientSecret } from './provider.ts';
import { changedOptions, optionsOf } from './provider-options.ts';
import { findOidcProvider } from './provider-store.ts';
import { warningsOf } from './provider-warnings.ts';
import {
  checkIssuer,
  type ProviderInput,
  providerEntity,
  removeProvider,
  saveProvider,
} from './save-provider.ts';

/** In place of a secret that is stored. */
const MASK = '********';
const typed = (secret: string | undefined): string => (secret === MASK ? '' : (secret ?? '').trim());

/** Without what may be a password in it: nothing was refused yet. */
function shownIssuer(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (!url || url.origin === 'null') return null;
  const more = `${url.username}${url.password}${url.search}${url.hash}`;
  return more === '' ? issuer : `${url.origin}${url.pathname}`;
}

export const testOidc = mutation({
  name: 'settings.testOidc',
  summary: 'Ask an identity provider what it says of itself, try the client, and tell what would go wrong',
  role: 'SUPER_ADMIN',
  audit: 'settings.oidcTested',
  input: TestOidc,
  output: OidcTest,
  scope: () => ownScope,
  prepare: async (ctx, input) => tryOut(ctx.services.outgoing, await triedOf(ctx, input)),
  async run(ctx, input, found) {
    ctx.audit({
      ...providerEntity(input.providerId ?? FIRST_PROVIDER),
      metadata: {
        issuer: shownIssuer(input.issuer.trim()),
        ok: found.ok,
        clientAccepted: found.clientAccepted,
      },
    });
    return found;
  },
});

/** What is not given is what is stored; a stored secret goes to the issuer and the client that it was given for, and nowhere else. */
async function triedOf(ctx: Context, input: TestOidc): Promise<Tried> {
  const id = input.providerId ?? FIRST_PROVIDER;
  const stored = await findOidcProvider(ctx.db, id);
  const issuer = input.issuer.trim();
  const options = changedOptions(stored?.options ?? optionsOf(id, {}), input.options ?? {});
  const isStored = stored?.issuer === issuer;
  const clientId = input.clientId?.trim() || (isStored ? stored.clientId : '');
  const method = input.tokenEndpointAuthMethod ?? (isStored ? stored.tokenEndpointAuthMethod : undefined);
  const given = typed(input.clientSecret);
  const keptSecret =
    isStored && stored.clientId === clientId && stored.tokenEndpointAuthMethod === method
      ? openClientSecret(ctx.services.keyring, stored)
      : null;
  const secret = method === 'none' ? null : given || keptSecret;
  const canTry = clientId !== '' && method !== undefined && (method === 'none' || secret !== null);
  return {
    ...{ issuer, options, redirectUri: redirectUri(ctx) },
    client: canTry ? { clientId, tokenEndpointAuthMethod: method, secret } : null,
  };
}

export const updateOidc = mutation({
  name: 'settings.updateOidc',
  summary: 'Have people sign in at an identity provider, beside those that are set already',
  role: 'SUPER_ADMIN',
  audit: 'settings.oidcUpdated',
  input: UpdateOidc,
  output: ProviderSaved,
  scope: () => ownScope,
  async prepare(ctx, input) {
    await checkIssuer(ctx, input.issuer);
    return warnings(ctx, input);
  },
  async run(ctx, input, found) {
    ctx.audit(await saveProvider(ctx, given(input), { isFromFile: false, position: null }));
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return { ok: true as const, warnings: found };
  },
});

const given = (input: UpdateOidc): ProviderInput => ({
  id: input.providerId ?? FIRST_PROVIDER,
  issuer: input.issuer,
  clientId: input.clientId,
  displayName: input.displayName ?? null,
  tokenEndpointAuthMethod: input.tokenEndpointAuthMethod ?? 'client_secret_basic',
  secret: typed(input.clientSecret),
  options: input.options ?? {},
});

/** None of a provider that does not answer: it is saved all the same, and its sign-ins tell. */
async function warnings(ctx: Context, input: UpdateOidc): Promise<string[]> {
  const id = input.providerId ?? FIRST_PROVIDER;
  const stored = await findOidcProvider(ctx.db, id);
  const options = changedOptions(stored?.options ?? optionsOf(id, {}), input.options ?? {});
  if (options.scopes === '' && options.groupsScope === '' && options.groupsClaim === '') return [];
  const document = await ctx.services.identityProvider
    .describe({ issuer: input.issuer.trim(), options })
    .catch(() => null);
  return document ? warningsOf(document, options) : [];
}

export const disableOidc = mutation({
  name: 'settings.disableOidc',
  summary: 'Let nobody sign in at an identity provider any more; who is linked to whom there stays known',
  role: 'SUPER_ADMIN',
  audit: 'settings.oidcDisabled',
  input: DisableOidc,
  output: Done,
  scope: () => ownScope,
  async run(ctx, input) {
    ctx.audit(await removeProvider(ctx, input.providerId ?? FIRST_PROVIDER, { isFromFile: false }));
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return { ok: true as const };
  },
});

export { unlinkProvider } from '../links/unlink-own-account.ts';
