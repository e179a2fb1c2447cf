/** Where the pull requests of a binding live, and how one comes in: what is to hold, and what may be shown of it. */
import { createPrivateKey } from 'node:crypto';
import type {
  BindForge,
  BoundForge,
  ConfigureGitSync,
  ReviewRules,
} from '../../../../schemas/api/git-sync.ts';
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

/** Null for the embedded repository: its pull requests are always kept here. */
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

/** Null for a remote: its forge has rules of its own. */
export const reviewRulesOf = (binding: Binding): ReviewRules | null =>
  binding.repositoryUrl === 'embedded'
    ? { protectBranch: binding.protectBranch, requiredApprovals: binding.requiredApprovals }
    : null;

/** Whether a binding is to have a forge after `input`. */
export const willHaveForge = (input: ConfigureGitSync, before: Binding | null): boolean =>
  (input.forge?.name ?? before?.forge ?? 'none') !== 'none';

/**
 * What a binding of `repositoryUrl` is to have after `input`. A token that was left out stays, but only towards the very
 * address that it was given for.
 * @throws BAD_REQUEST that names the field and says what to give.
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
      throw badRequest(
        'forge: the repository that Headgate serves itself has its pull requests here; leave it out',
      );
    refuseMore(input.forge);
    return NO_FORGE;
  }
  const name = input.forge?.name ?? before?.forge ?? 'none';
  if (name === 'none') {
    refuseMore(input.forge);
    return NO_FORGE;
  }
  const place = placeOf(name, input.forge, before, repositoryUrl);
  if (place.url !== before?.forgeUrl) assertTarget({ targetGuard }, 'forge.url', new URL(place.url).hostname);
  const kept = before?.forge === name && before.forgeUrl === place.url ? before : null;
  const token = input.forge?.app ? appKeyOf(name, input.forge) : input.forge?.token;
  if (token === undefined && (kept?.sealedForgeToken ?? null) === null)
    throw badRequest(
      before?.sealedForgeToken
        ? `forge.token: the one that is kept was given for ${before.forgeUrl}, not for ${place.url}; give one for that, or {"name":"none"} as forge`
        : 'forge.token is missing; give one that may write pull requests, comments and commit statuses',
    );
  if (!input.forge?.app && token !== undefined && /[^\x21-\x7e]/.test(token))
    throw badRequest('forge.token holds a blank or a line break; was it copied with one?');
  return {
    forge: name,
    forgeUrl: place.url,
    forgeProject: place.project,
    ...(token === undefined
      ? { sealedForgeToken: kept?.sealedForgeToken ?? null, forgeAppId: kept?.forgeAppId ?? null }
      : {
          sealedForgeToken: sealForgeToken(keyring, bindingId, token),
          forgeAppId: input.forge?.app?.id ?? null,
        }),
    sealedWebhookSecret: webhookSecretOf(keyring, bindingId, input.forge, before),
  };
}

/** @throws BAD_REQUEST */
function appKeyOf(name: KnownForge, { app, token }: BindForge): string {
  if (name !== 'github') throw badRequest('forge.app is of use with GitHub only; give a token');
  if (token !== undefined) throw badRequest('forge.token and forge.app are both given; give one of them');
  const pem = app?.privateKey.trim() ?? '';
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem;
  } catch {
    // Told below, without what the library makes of it.
  }
  throw badRequest(
    'forge.app.privateKey is no RSA key in PEM form; generate a private key on the page of the app, and give the whole file',
  );
}

function refuseMore(forge: BindForge | undefined): void {
  const given = (['url', 'project', 'token', 'app', 'webhookSecret'] as const).find(
    (field) => forge?.[field] != null,
  );
  if (given) throw badRequest(`forge.${given} is of use with a forge only; name it, or leave it out`);
}

function placeOf(
  name: KnownForge,
  given: BindForge | undefined,
  before: Binding | null,
  repositoryUrl: string,
): ForgeEndpoint {
  try {
    const remote = readAddress(repositoryUrl);
    return forgeEndpoint(name, given ?? (before ? chosenBy(before) : {}), remote);
  } catch (error) {
    throw error instanceof ForgeAddressError ? badRequest(error.message) : error;
  }
}

/** What somebody had chosen, and no address tells: the rest follows the repository where that moves. */
function chosenBy({ forge, forgeUrl, forgeProject, repositoryUrl }: Binding): Partial<ForgeEndpoint> {
  if (forge === 'none' || repositoryUrl === 'embedded') return {};
  const told = deriveForgeEndpoint(forge, readAddress(repositoryUrl));
  return {
    ...(forgeUrl === null || forgeUrl === told.url ? {} : { url: forgeUrl }),
    ...(forgeProject === null || forgeProject === told.project ? {} : { project: forgeProject }),
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

/** Left out: as it is. @throws BAD_REQUEST for a remote. */
export function reviewOf(
  input: ConfigureGitSync,
  before: Binding | null,
  repositoryUrl: string,
): ReviewRules | undefined {
  if (input.review === undefined) return undefined;
  if (repositoryUrl !== 'embedded')
    throw badRequest('review: the rules of a remote are set where it is; leave them out');
  return {
    protectBranch: before?.protectBranch ?? false,
    requiredApprovals: before?.requiredApprovals ?? 0,
    ...input.review,
  };
}

/** For the audit log: of what is sealed that it changed, never to what. */
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
