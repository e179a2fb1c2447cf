/** A provider is written or taken away, by a super admin or by the file of providers: with all that follows from it. */
import {
  MOST_PROVIDERS,
  type ProviderOptions,
  type ProviderOptionsChange,
} from '../../../../schemas/api/identity-providers.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import type { AuditEntry } from '../../../platform/operation/audit-entry.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, messageOf, preconditionFailed } from '../../../platform/operation/errors.ts';
import { countSuperAdminsWithPassword } from '../../access/index.ts';
import { lockRulesShared } from '../../directory/index.ts';
import { followSuperAdmins } from '../sign-in/super-admins.ts';
import { readPrivateKey } from './client-auth.ts';
import { openClientSecret } from './provider.ts';
import { changedOptions, optionsOf } from './provider-options.ts';
import {
  deleteOidcProvider,
  deleteProviderSessions,
  lockOidcProviders,
  type OidcProvider,
  writeOidcProvider,
} from './provider-store.ts';

/** As it was given: blanks around it are pasted along. */
export interface ProviderInput
  extends Pick<OidcProvider, 'id' | 'issuer' | 'clientId' | 'displayName' | 'tokenEndpointAuthMethod'> {
  /** Empty keeps the one that is stored, for the same issuer and client. */
  secret: string;
  /** Absent keeps. */
  options: ProviderOptionsChange;
}

export const providerEntity = (id: string) => ({ entityType: 'Settings', entityId: id });

/** @throws BAD_REQUEST for an issuer that cannot be one, or that must not be asked. */
export async function checkIssuer({ services }: Pick<Context, 'services'>, issuer: string): Promise<void> {
  if (/[?#\s]/.test(issuer.trim()))
    throw badRequest('issuer: give the address alone, without spaces, ? and #, as the provider shows it');
  try {
    await services.outgoing.check(issuer.trim());
  } catch (error) {
    if (error instanceof OutgoingError) throw badRequest(`issuer: ${messageOf(error)}`);
    throw error;
  }
}

/** In a transaction. Answers its audit row. @throws BAD_REQUEST, PRECONDITION_FAILED */
export async function saveProvider(
  ctx: Context,
  given: ProviderInput,
  { isFromFile, position }: { isFromFile: boolean; position: number | null },
): Promise<AuditEntry> {
  // Before all other locks, as wherever groups are looked at.
  await lockRulesShared(ctx.db);
  const providers = await lockOidcProviders(ctx.db);
  const before = providers.find(({ id }) => id === given.id) ?? null;
  if (!isFromFile) refuseFromFile(before);
  const issuer = given.issuer.trim();
  const owner = providers.find((one) => one.issuer === issuer && one.id !== given.id);
  if (owner) throw badRequest(`issuer: the provider "${owner.id}" has it already; each issuer is set once`);
  if (!before && providers.length >= MOST_PROVIDERS)
    throw preconditionFailed(`There are ${MOST_PROVIDERS} providers already; take one away first`);
  const clientId = given.clientId.trim();
  if (clientId === '') throw badRequest('clientId: give the id of the client');
  const after: OidcProvider = {
    ...{ id: given.id, issuer, clientId, isFromFile },
    displayName: given.displayName?.trim() || null,
    tokenEndpointAuthMethod: given.tokenEndpointAuthMethod,
    options: changedOptions(
      // A file says all of it.
      (isFromFile ? null : before?.options) ?? optionsOf(given.id, {}),
      given.options,
    ),
    sealedClientSecret: secretOf(ctx, { ...given, issuer, clientId }, before),
  };
  await writeOidcProvider(ctx.db, after, position ?? (before ? null : providers.length));
  if (after.options.keepsScim) await letGoOfScim(ctx, providers, after.id);
  if (before && before.issuer !== after.issuer) await endAt(ctx, before);
  await followSuperAdmins(ctx, after, null);
  return {
    ...providerEntity(after.id),
    diff: diffOf(before, after),
    metadata: { clientSecretChanged: before?.sealedClientSecret !== after.sealedClientSecret },
  };
}

/** In a transaction. Who is linked to whom there stays known. */
export async function removeProvider(
  ctx: Context,
  id: string,
  { isFromFile }: { isFromFile: boolean },
): Promise<AuditEntry> {
  await lockRulesShared(ctx.db);
  const before = (await lockOidcProviders(ctx.db)).find((one) => one.id === id) ?? null;
  if (!before) return providerEntity(id);
  if (!isFromFile) refuseFromFile(before);
  await deleteOidcProvider(ctx.db, id);
  await endAt(ctx, before);
  return {
    ...providerEntity(id),
    diff: { issuer: [before.issuer, null], clientId: [before.clientId, null] },
  };
}

function refuseFromFile(before: OidcProvider | null): void {
  if (before?.isFromFile)
    throw preconditionFailed(
      `The provider "${before.id}" stands in the file that HEADGATE_OIDC_FILE names: change it there`,
    );
}

/** Null for a public client. */
function secretOf(ctx: Context, given: ProviderInput, before: OidcProvider | null): string | null {
  const secret = given.secret.trim();
  const method = given.tokenEndpointAuthMethod;
  if (method === 'none') {
    if (secret !== '')
      throw badRequest('clientSecret: leave it empty for a client without one, or choose another method');
    return null;
  }
  if (secret !== '') {
    if (method === 'private_key_jwt') readPrivateKey(secret);
    if (before && openClientSecret(ctx.services.keyring, before) === secret) return before.sealedClientSecret;
    return ctx.services.keyring.seal(
      secret,
      sealingContext('oidc_settings', given.id, 'sealed_client_secret'),
    );
  }
  const isKey = method === 'private_key_jwt';
  const same =
    before?.issuer === given.issuer &&
    before.clientId === given.clientId &&
    (before.tokenEndpointAuthMethod === 'private_key_jwt') === isKey;
  if (same && before.sealedClientSecret !== null) return before.sealedClientSecret;
  throw badRequest(
    isKey
      ? 'clientSecret: give the private key of this client; none is stored for this issuer and client id'
      : 'clientSecret: give the secret of this client; none is stored for this issuer and client id',
  );
}

/** SCIM is one provider's. */
async function letGoOfScim(ctx: Context, providers: readonly OidcProvider[], kept: string): Promise<void> {
  for (const other of providers)
    if (other.id !== kept && other.options.keepsScim)
      await writeOidcProvider(ctx.db, { ...other, options: { ...other.options, keepsScim: false } });
}

const MOST_TOLD = 20;

/** What began at it ends. @throws PRECONDITION_FAILED where nobody could administer the server afterwards. */
async function endAt(ctx: Context, { issuer, options }: OidcProvider): Promise<void> {
  await followSuperAdmins(ctx, { issuer, options: { ...options, superAdminGroups: [] } }, null);
  if ((await countSuperAdminsWithPassword(ctx.db, ctx.clock.now())) === 0)
    throw preconditionFailed(
      'Every super admin signs in at this provider and by nothing else; make somebody who has a password a super admin first, or nobody could change it back',
    );
  const userIds = await deleteProviderSessions(ctx.db, issuer);
  for (const userId of userIds.slice(0, MOST_TOLD))
    await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
  if (userIds.length > MOST_TOLD)
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}

/** Without the secret. */
function diffOf(before: OidcProvider | null, after: OidcProvider): Record<string, [unknown, unknown]> {
  const names = ['issuer', 'clientId', 'displayName', 'tokenEndpointAuthMethod'] as const;
  const changed: [string, [unknown, unknown]][] = names
    .filter((name) => before?.[name] !== after[name])
    .map((name) => [name, [before?.[name] ?? null, after[name]]]);
  const was = before?.options ?? optionsOf(after.id, {});
  for (const name of Object.keys(after.options) as (keyof ProviderOptions)[])
    if (JSON.stringify(was[name]) !== JSON.stringify(after.options[name]))
      changed.push([name, [was[name], after.options[name]]]);
  return Object.fromEntries(changed);
}
