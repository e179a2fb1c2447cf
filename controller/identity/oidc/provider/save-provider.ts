/** Saves or removes a provider, for a super admin or for HEADGATE_OIDC_FILE, with all consequences for sessions and super admins. */
import {
  MOST_PROVIDERS,
  type ProviderOptions,
  type ProviderOptionsChange,
} from '../../../../schemas/api/identity/identity-providers.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import type { AuditEntry } from '../../../platform/operation/audit-entry.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, messageOf, preconditionFailed } from '../../../platform/operation/errors.ts';
import { countSuperAdminsWithPassword } from '../../access/index.ts';
import { lockRulesShared } from '../../directory/index.ts';
import { reconcileSuperAdmins } from '../sign-in/super-admins.ts';
import { readPrivateKey } from './client-auth.ts';
import { openClientSecret } from './provider.ts';
import { changeOptions, optionsOf } from './provider-options.ts';
import {
  deleteOidcProvider,
  deleteProviderSessions,
  lockOidcProviders,
  type OidcProvider,
  writeOidcProvider,
} from './provider-store.ts';

/** Texts may have blanks around them. */
export interface ProviderInput
  extends Pick<OidcProvider, 'id' | 'issuer' | 'clientId' | 'displayName' | 'tokenEndpointAuthMethod'> {
  /** Empty keeps the stored secret, for the same issuer and client. */
  secret: string;
  /** An absent option keeps its value. */
  options: ProviderOptionsChange;
}

export const providerEntity = (id: string) => ({ entityType: 'Settings', entityId: id });

/** @throws BAD_REQUEST for an invalid issuer, or one that Headgate may not connect to. */
export async function checkIssuer({ services }: Pick<Context, 'services'>, issuer: string): Promise<void> {
  if (/[?#\s]/.test(issuer.trim()))
    throw badRequest('issuer: enter only the address, without spaces, ? and #, as the provider shows it');
  try {
    await services.outgoing.check(issuer.trim());
  } catch (error) {
    if (error instanceof OutgoingError) throw badRequest(`issuer: ${messageOf(error)}`);
    throw error;
  }
}

/** Runs in a transaction and returns the audit row. @throws BAD_REQUEST, PRECONDITION_FAILED */
export async function saveProvider(
  ctx: Context,
  input: ProviderInput,
  { isFromFile, position }: { isFromFile: boolean; position: number | null },
): Promise<AuditEntry> {
  // Lock order: the group rules come before all other locks.
  await lockRulesShared(ctx.db);
  const providers = await lockOidcProviders(ctx.db);
  const before = providers.find(({ id }) => id === input.id) ?? null;
  if (!isFromFile) assertNotFromFile(before);
  const issuer = input.issuer.trim();
  const owner = providers.find((one) => one.issuer === issuer && one.id !== input.id);
  if (owner)
    throw badRequest(`issuer: the provider "${owner.id}" has this issuer already; change that provider`);
  if (!before && providers.length >= MOST_PROVIDERS)
    throw preconditionFailed(`There are ${MOST_PROVIDERS} providers already; remove one first`);
  const clientId = input.clientId.trim();
  if (clientId === '') throw badRequest('clientId: enter the id of the client');
  const after: OidcProvider = {
    ...{ id: input.id, issuer, clientId, isFromFile },
    displayName: input.displayName?.trim() || null,
    tokenEndpointAuthMethod: input.tokenEndpointAuthMethod,
    options: changeOptions(
      // A file sets all options, so defaults apply instead of stored values.
      (isFromFile ? null : before?.options) ?? optionsOf(input.id, {}),
      input.options,
    ),
    sealedClientSecret: sealSecret(ctx, { ...input, issuer, clientId }, before),
  };
  await writeOidcProvider(ctx.db, after, position ?? (before ? null : providers.length));
  if (after.options.keepsScim) await clearOtherScim(ctx, providers, after.id);
  if (before && before.issuer !== after.issuer) await endSignInsAt(ctx, before);
  await reconcileSuperAdmins(ctx, after, null);
  return {
    ...providerEntity(after.id),
    diff: diffOf(before, after),
    metadata: { clientSecretChanged: before?.sealedClientSecret !== after.sealedClientSecret },
  };
}

/** Runs in a transaction. The links of accounts stay. */
export async function removeProvider(
  ctx: Context,
  id: string,
  { isFromFile }: { isFromFile: boolean },
): Promise<AuditEntry> {
  await lockRulesShared(ctx.db);
  const before = (await lockOidcProviders(ctx.db)).find((one) => one.id === id) ?? null;
  if (!before) return providerEntity(id);
  if (!isFromFile) assertNotFromFile(before);
  await deleteOidcProvider(ctx.db, id);
  await endSignInsAt(ctx, before);
  return {
    ...providerEntity(id),
    diff: { issuer: [before.issuer, null], clientId: [before.clientId, null] },
  };
}

function assertNotFromFile(before: OidcProvider | null): void {
  if (before?.isFromFile)
    throw preconditionFailed(
      `The provider "${before.id}" is set in the file that HEADGATE_OIDC_FILE names: change it there`,
    );
}

/** Null for a public client. */
function sealSecret(ctx: Context, input: ProviderInput, before: OidcProvider | null): string | null {
  const secret = input.secret.trim();
  const method = input.tokenEndpointAuthMethod;
  if (method === 'none') {
    if (secret !== '')
      throw badRequest(
        'clientSecret: leave it empty for a client without a secret, or choose another method',
      );
    return null;
  }
  if (secret !== '') {
    if (method === 'private_key_jwt') readPrivateKey(secret);
    if (before && openClientSecret(ctx.services.keyring, before) === secret) return before.sealedClientSecret;
    return ctx.services.keyring.seal(
      secret,
      sealingContext('oidc_settings', input.id, 'sealed_client_secret'),
    );
  }
  const isKey = method === 'private_key_jwt';
  const same =
    before?.issuer === input.issuer &&
    before.clientId === input.clientId &&
    (before.tokenEndpointAuthMethod === 'private_key_jwt') === isKey;
  if (same && before.sealedClientSecret !== null) return before.sealedClientSecret;
  throw badRequest(
    isKey
      ? 'clientSecret: enter the private key of this client; none is stored for this issuer and client id'
      : 'clientSecret: enter the secret of this client; none is stored for this issuer and client id',
  );
}

/** Only one provider can manage users by SCIM. */
async function clearOtherScim(
  ctx: Context,
  providers: readonly OidcProvider[],
  currentId: string,
): Promise<void> {
  for (const other of providers)
    if (other.id !== currentId && other.options.keepsScim)
      await writeOidcProvider(ctx.db, { ...other, options: { ...other.options, keepsScim: false } });
}

const MAX_NOTIFIED = 20;

/** Ends sessions and super admin rights that the provider gave. @throws PRECONDITION_FAILED where nobody could administer the server afterwards. */
async function endSignInsAt(ctx: Context, { issuer, options }: OidcProvider): Promise<void> {
  await reconcileSuperAdmins(ctx, { issuer, options: { ...options, superAdminGroups: [] } }, null);
  if ((await countSuperAdminsWithPassword(ctx.db, ctx.clock.now())) === 0)
    throw preconditionFailed(
      'This provider is the only way to sign in for every super admin; make a user with a password a super admin first, or nobody could revert this',
    );
  const userIds = await deleteProviderSessions(ctx.db, issuer);
  for (const userId of userIds.slice(0, MAX_NOTIFIED))
    await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
  if (userIds.length > MAX_NOTIFIED)
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}

/** The changed fields, without the secret. */
function diffOf(before: OidcProvider | null, after: OidcProvider): Record<string, [unknown, unknown]> {
  const names = ['issuer', 'clientId', 'displayName', 'tokenEndpointAuthMethod'] as const;
  const changed: [string, [unknown, unknown]][] = names
    .filter((name) => before?.[name] !== after[name])
    .map((name) => [name, [before?.[name] ?? null, after[name]]]);
  const previous = before?.options ?? optionsOf(after.id, {});
  for (const name of Object.keys(after.options) as (keyof ProviderOptions)[])
    if (JSON.stringify(previous[name]) !== JSON.stringify(after.options[name]))
      changed.push([name, [previous[name], after.options[name]]]);
  return Object.fromEntries(changed);
}
