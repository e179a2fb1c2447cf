/** The forge of a binding: the columns to store for an input, and what may be shown of them. */
import { createPrivateKey } from 'node:crypto';
import type { BindForge, BoundForge, ReviewRules } from '../../../../schemas/api/delivery/forges.ts';
import type { ConfigureGitSync } from '../../../../schemas/api/delivery/git-sync.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest } from '../../../platform/operation/errors.ts';
import { readAddress } from '../../repository/index.ts';
import { assertTarget } from '../assert-target.ts';
import { type Binding, type ForgeColumns, NO_FORGE } from '../store.ts';
import {
  deriveForgeEndpoint,
  ForgeAddressError,
  type ForgeEndpoint,
  forgeEndpoint,
  type KnownForge,
} from './forge-address.ts';
import { sealForgeToken, sealWebhookSecret } from './forge-secrets.ts';

/** Null for the embedded repository: Headgate keeps its pull requests itself. */
export function boundForgeOf(binding: Binding): BoundForge | null {
  if (binding.repositoryUrl === 'embedded') return null;
  return {
    name: binding.forge,
    url: binding.forgeUrl,
    project: binding.forgeProject,
    hasToken: binding.sealedForgeToken !== null,
    appId: binding.forgeAppId,
    hasWebhookSecret: binding.sealedWebhookSecret !== null,
    error: binding.forgeError,
  };
}

/** Null for a remote: its forge has its own rules. */
export const reviewRulesOf = (binding: Binding): ReviewRules | null =>
  binding.repositoryUrl === 'embedded'
    ? { protectBranch: binding.protectBranch, requiredApprovals: binding.requiredApprovals }
    : null;

/** Whether the binding has a forge after `input`. */
export const willHaveForge = (input: ConfigureGitSync, before: Binding | null): boolean =>
  (input.forge?.name ?? before?.forge ?? 'none') !== 'none';

/**
 * The columns for a binding of `repositoryUrl` after `input`. An omitted token stays, but only for the address that it was
 * given for.
 * @throws BAD_REQUEST that names the field and what to give
 */
export function forgeOf(
  { keyring, targetGuard }: Context['services'],
  bindingId: string,
  input: ConfigureGitSync,
  before: Binding | null,
  repositoryUrl: string,
): ForgeColumns {
  if (repositoryUrl === 'embedded') {
    if (input.forge && input.forge.name !== 'none')
      throw badRequest('forge: Headgate keeps the pull requests of its own repository itself; leave it out');
    assertNoForgeFields(input.forge);
    return NO_FORGE;
  }
  const name = input.forge?.name ?? before?.forge ?? 'none';
  if (name === 'none') {
    assertNoForgeFields(input.forge);
    return NO_FORGE;
  }
  const endpoint = endpointOf(name, input.forge, before, repositoryUrl);
  if (endpoint.url !== before?.forgeUrl)
    assertTarget({ targetGuard }, 'forge.url', new URL(endpoint.url).hostname);
  const previous = before?.forge === name && before.forgeUrl === endpoint.url ? before : null;
  const token = input.forge?.app ? appKeyOf(name, input.forge) : input.forge?.token;
  if (token === undefined && (previous?.sealedForgeToken ?? null) === null)
    throw badRequest(
      before?.sealedForgeToken
        ? `forge.token: the stored token was given for ${before.forgeUrl}, not for ${endpoint.url}; give a token for that address, or {"name":"none"} as forge`
        : 'forge.token is missing; give a token that may write pull requests, comments and commit statuses',
    );
  if (!input.forge?.app && token !== undefined && /[^\x21-\x7e]/.test(token))
    throw badRequest('forge.token holds a blank or a line break; was it copied with one?');
  return {
    forge: name,
    forgeUrl: endpoint.url,
    forgeProject: endpoint.project,
    ...(token === undefined
      ? { sealedForgeToken: previous?.sealedForgeToken ?? null, forgeAppId: previous?.forgeAppId ?? null }
      : {
          sealedForgeToken: sealForgeToken(keyring, bindingId, token),
          forgeAppId: input.forge?.app?.id ?? null,
        }),
    sealedWebhookSecret: webhookSecretOf(keyring, bindingId, input.forge, before),
  };
}

/** @throws BAD_REQUEST */
function appKeyOf(name: KnownForge, { app, token }: BindForge): string {
  if (name !== 'github') throw badRequest('forge.app works with GitHub only; give a token');
  if (token !== undefined) throw badRequest('forge.token and forge.app are both given; give one of them');
  const pem = app?.privateKey.trim() ?? '';
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem;
  } catch {
    // Reported below, without the message of the library.
  }
  throw badRequest(
    'forge.app.privateKey is not an RSA key in PEM form; generate a private key on the page of the app, and give the whole file',
  );
}

function assertNoForgeFields(forge: BindForge | undefined): void {
  const given = (['url', 'project', 'token', 'app', 'webhookSecret'] as const).find(
    (field) => forge?.[field] != null,
  );
  if (given) throw badRequest(`forge.${given} needs a forge; name the forge, or leave the field out`);
}

function endpointOf(
  name: KnownForge,
  given: BindForge | undefined,
  before: Binding | null,
  repositoryUrl: string,
): ForgeEndpoint {
  try {
    const remote = readAddress(repositoryUrl);
    return forgeEndpoint(name, given ?? (before ? chosenEndpoint(before) : {}), remote);
  } catch (error) {
    throw error instanceof ForgeAddressError ? badRequest(error.message) : error;
  }
}

/** What somebody chose instead of the derived endpoint. The rest follows the repository when its address changes. */
function chosenEndpoint({ forge, forgeUrl, forgeProject, repositoryUrl }: Binding): Partial<ForgeEndpoint> {
  if (forge === 'none' || repositoryUrl === 'embedded') return {};
  const derived = deriveForgeEndpoint(forge, readAddress(repositoryUrl));
  return {
    ...(forgeUrl === null || forgeUrl === derived.url ? {} : { url: forgeUrl }),
    ...(forgeProject === null || forgeProject === derived.project ? {} : { project: forgeProject }),
  };
}

function webhookSecretOf(
  keyring: Context['services']['keyring'],
  bindingId: string,
  given: BindForge | undefined,
  before: Binding | null,
): string | null {
  const secret = given?.webhookSecret;
  if (secret === undefined) return before?.sealedWebhookSecret ?? null;
  if (secret === null) return null;
  if (/[^\x21-\x7e]/.test(secret))
    throw badRequest(
      'forge.webhookSecret holds a blank or a special character, which not every forge sends; take letters and digits',
    );
  return sealWebhookSecret(keyring, bindingId, secret);
}

/** Undefined when `input` leaves the rules as they are. @throws BAD_REQUEST for a remote */
export function reviewOf(
  input: ConfigureGitSync,
  before: Binding | null,
  repositoryUrl: string,
): ReviewRules | undefined {
  if (input.review === undefined) return undefined;
  if (repositoryUrl !== 'embedded')
    throw badRequest('review: a remote repository has the rules of its own forge; leave them out');
  return {
    protectBranch: before?.protectBranch ?? false,
    requiredApprovals: before?.requiredApprovals ?? 0,
    ...input.review,
  };
}

/** For the audit log. A sealed value appears as set or changed, never as itself. */
export function forgeDiff(before: ForgeColumns | null, after: ForgeColumns): Record<string, unknown> {
  const was = before ?? NO_FORGE;
  const plain = (field: 'forge' | 'forgeUrl' | 'forgeProject' | 'forgeAppId') =>
    was[field] === after[field] ? undefined : [was[field], after[field]];
  const sealed = (field: 'sealedForgeToken' | 'sealedWebhookSecret') =>
    was[field] === after[field] ? undefined : [was[field] && 'set', after[field] && 'changed'];
  return Object.fromEntries(
    Object.entries({
      forge: plain('forge'),
      forgeUrl: plain('forgeUrl'),
      forgeProject: plain('forgeProject'),
      forgeAppId: plain('forgeAppId'),
      forgeToken: sealed('sealedForgeToken'),
      webhookSecret: sealed('sealedWebhookSecret'),
    }).filter(([, value]) => value !== undefined),
  );
}

export function reviewDiff(before: Binding | null, after: ReviewRules | undefined): Record<string, unknown> {
  if (!after) return {};
  const fields = ['protectBranch', 'requiredApprovals'] as const;
  return Object.fromEntries(
    fields
      .filter((field) => before?.[field] !== after[field])
      .map((field) => [field, [before?.[field] ?? null, after[field]]]),
  );
}
