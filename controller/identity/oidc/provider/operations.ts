/** Super admins test, save and disable identity providers. */
import {
  DisableOidc,
  FIRST_PROVIDER,
  OidcTest,
  ProviderSaved,
  TestOidc,
  UpdateOidc,
} from '../../../../schemas/api/identity/identity-providers.ts';
import { Done } from '../../../../schemas/api/identity/people.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { mutation, ownScope } from '../../../platform/operation/operation.ts';
import { redirectUri } from '../sign-in/sign-in.ts';
import { openClientSecret } from './provider.ts';
import { changeOptions, optionsOf } from './provider-options.ts';
import { findOidcProvider } from './provider-store.ts';
import { warningsOf } from './provider-warnings.ts';
import {
  checkIssuer,
  type ProviderInput,
  providerEntity,
  removeProvider,
  saveProvider,
} from './save-provider.ts';
import { type TestSubject, testProvider } from './test-provider.ts';

/** Stands for a stored secret in the input. */
const MASK = '********';
const newSecret = (secret: string | undefined): string => (secret === MASK ? '' : (secret ?? '').trim());

/** The issuer for the audit log, without parts that may contain a password: the input is not validated yet. */
function issuerForAudit(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (!url || url.origin === 'null') return null;
  const more = `${url.username}${url.password}${url.search}${url.hash}`;
  return more === '' ? issuer : `${url.origin}${url.pathname}`;
}

export const testOidc = mutation({
  name: 'settings.testOidc',
  summary: 'Test an identity provider and the client, and report problems',
  role: 'SUPER_ADMIN',
  audit: 'settings.oidcTested',
  input: TestOidc,
  output: OidcTest,
  scope: () => ownScope,
  prepare: async (ctx, input) => testProvider(ctx.services.outgoing, await testSubject(ctx, input)),
  async run(ctx, input, found) {
    ctx.audit({
      ...providerEntity(input.providerId ?? FIRST_PROVIDER),
      metadata: {
        issuer: issuerForAudit(input.issuer.trim()),
        ok: found.ok,
        clientAccepted: found.clientAccepted,
      },
    });
    return found;
  },
});

/** Fills in stored values. A stored secret is sent only to the issuer and the client to which it belongs. */
async function testSubject(ctx: Context, input: TestOidc): Promise<TestSubject> {
  const id = input.providerId ?? FIRST_PROVIDER;
  const stored = await findOidcProvider(ctx.db, id);
  const issuer = input.issuer.trim();
  const options = changeOptions(stored?.options ?? optionsOf(id, {}), input.options ?? {});
  const isStored = stored?.issuer === issuer;
  const clientId = input.clientId?.trim() || (isStored ? stored.clientId : '');
  const method = input.tokenEndpointAuthMethod ?? (isStored ? stored.tokenEndpointAuthMethod : undefined);
  const secretInput = newSecret(input.clientSecret);
  const storedSecret =
    isStored && stored.clientId === clientId && stored.tokenEndpointAuthMethod === method
      ? openClientSecret(ctx.services.keyring, stored)
      : null;
  const secret = method === 'none' ? null : secretInput || storedSecret;
  const canTest = clientId !== '' && method !== undefined && (method === 'none' || secret !== null);
  return {
    ...{ issuer, options, redirectUri: redirectUri(ctx) },
    client: canTest ? { clientId, tokenEndpointAuthMethod: method, secret } : null,
  };
}

export const updateOidc = mutation({
  name: 'settings.updateOidc',
  summary: 'Add or change an identity provider at which users sign in',
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
    ctx.audit(await saveProvider(ctx, toProviderInput(input), { isFromFile: false, position: null }));
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return { ok: true as const, warnings: found };
  },
});

const toProviderInput = (input: UpdateOidc): ProviderInput => ({
  id: input.providerId ?? FIRST_PROVIDER,
  issuer: input.issuer,
  clientId: input.clientId,
  displayName: input.displayName ?? null,
  tokenEndpointAuthMethod: input.tokenEndpointAuthMethod ?? 'client_secret_basic',
  secret: newSecret(input.clientSecret),
  options: input.options ?? {},
});

/** Empty where the provider does not answer: it is saved all the same, and its sign-ins report the problem. */
async function warnings(ctx: Context, input: UpdateOidc): Promise<string[]> {
  const id = input.providerId ?? FIRST_PROVIDER;
  const stored = await findOidcProvider(ctx.db, id);
  const options = changeOptions(stored?.options ?? optionsOf(id, {}), input.options ?? {});
  if (options.scopes === '' && options.groupsScope === '' && options.groupsClaim === '') return [];
  const document = await ctx.services.identityProvider
    .describe({ issuer: input.issuer.trim(), options })
    .catch(() => null);
  return document ? warningsOf(document, options) : [];
}

export const disableOidc = mutation({
  name: 'settings.disableOidc',
  summary: 'Turn off sign-in at an identity provider; the links of accounts stay',
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
