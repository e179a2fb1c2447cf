/** From what the browser brings back to what the provider says of somebody, checked: OpenID Connect Core 1.0, 3.1.3.7 and 5.3. */
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  ClientError,
  type Configuration,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { type RefreshToken, refreshTokenOf } from '../refresh/refresh-token.ts';
import type { Attempt } from '../sign-in/attempt.ts';
import {
  believedProfile,
  type ClaimedGroups,
  type Claims,
  groupsAt,
  mergedProfile,
  type Profile,
  profileOf,
  showsSecondFactor,
  withPrefix,
} from '../sign-in/claims.ts';
import type { OidcProvider } from './provider-store.ts';

/** Of everything that is asked for one sign-in. */
const SIGN_IN_MS = 20_000;
/** What the provider is shown again at sign-out; a longer one is not kept. */
const ID_TOKEN_LENGTH = 16_000;

export interface ProviderIdentity {
  issuer: string;
  subject: string;
  profile: Profile;
  /** Null while nobody asks for them. */
  groups: ClaimedGroups | null;
  /** Whether userinfo could not be asked for what the ID token leaves open. */
  incomplete: boolean;
  /** A claim that the settings name, and that neither the ID token nor userinfo has. */
  missingClaim: string | null;
  /** Whether `amr` or `acr` shows a second factor. */
  hasSecondFactor: boolean;
  idToken: string | undefined;
  /** What the provider calls this session: OpenID Connect Back-Channel Logout 1.0, 2.1. */
  sid: string | null;
  refreshToken: RefreshToken | null;
}

/** The provider was not reached, or is not in order: another try may go well. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
  /** What the message leaves out, for the log. */
  readonly reason: string | null;
  constructor(message: string, reason: string | null = null) {
    super(message);
    this.reason = reason;
  }
}
/** The provider said no, or said something that is not believed. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
  /** Not the client, but the person: RFC 6749, 4.1.2.1, `access_denied`. */
  readonly isDenial: boolean;
  constructor(message: string, isDenial = false) {
    super(message);
    this.isDenial = isDenial;
  }
}

/** @throws ProviderUnavailable or ProviderRefused; their messages are for administrators and the log, and hold no token. */
export async function requestProvider(
  ctx: Context,
  asked: {
    provider: OidcProvider;
    attempt: Attempt;
    /** Ours, with what the provider has put into it. */
    url: URL;
    /** The claim with the groups; null while they do not matter. */
    groupsClaim: string | null;
  },
): Promise<ProviderIdentity> {
  const { provider, attempt, url, groupsClaim } = asked;
  const signal = AbortSignal.timeout(SIGN_IN_MS);
  const { identityProvider } = ctx.services;
  const client = await identityProvider.client(ctx, provider, signal).catch((error: unknown) => {
    throw new ProviderUnavailable(messageOf(error), error instanceof OutgoingError ? error.reason : null);
  });
  const tokens = await authorizationCodeGrant(client, url, {
    expectedState: attempt.state,
    expectedNonce: attempt.nonce,
    pkceCodeVerifier: attempt.verifier,
    idTokenExpected: true,
  }).catch((error: unknown) => {
    const reason = explained(error, 'the provider does not take the client id and secret');
    // Its keys and what else it has may be elsewhere since.
    if (!(error instanceof ResponseBodyError)) identityProvider.forget();
    throw reason;
  });
  const claims = tokens.claims();
  if (!claims?.sub || claims.sub.length > 255 || /[\p{Cc}\p{Cs}]/u.test(claims.sub))
    throw new ProviderRefused('the ID token names nobody');
  const { userinfo, incomplete } = await lookCloser(client, tokens.access_token, claims, groupsClaim);
  const claimed =
    groupsClaim === null
      ? null
      : (groupsAt(claims, groupsClaim) ?? (userinfo && groupsAt(userinfo, groupsClaim)));
  const { options } = provider;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    profile: believedProfile(
      mergedProfile(profileOf(claims), userinfo && profileOf(userinfo)),
      options.verifiesEmails,
    ),
    groups:
      groupsClaim === null ? null : withPrefix(claimed ?? groupsUnsaid(incomplete), options.groupPrefix),
    incomplete,
    missingClaim: claimed === null && !incomplete ? groupsClaim : null,
    hasSecondFactor: showsSecondFactor(claims, options.secondFactorClaims),
    sid: sidOf(claims),
    refreshToken: refreshTokenOf(tokens, attempt.offline),
    idToken: (tokens.id_token?.length ?? 0) <= ID_TOKEN_LENGTH ? tokens.id_token : undefined,
  };
}

const sidOf = ({ sid }: Claims): string | null =>
  typeof sid === 'string' && sid !== '' && sid.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(sid) ? sid : null;

/** Most providers leave the claim out for whoever is in no group. */
const groupsUnsaid = (incomplete: boolean): ClaimedGroups =>
  incomplete ? { known: false, reason: 'userinfo could not be asked for them' } : { known: true, names: [] };

/** Asks userinfo where the ID token does not say everything. */
export async function lookCloser(
  client: Configuration,
  accessToken: string,
  claims: Claims & { sub: string },
  groupsClaim: string | null,
): Promise<{ userinfo: Claims | null; incomplete: boolean }> {
  const { email, emailVerified, name } = profileOf(claims);
  const known = email !== null && emailVerified !== null && name !== null;
  const groupsKnown = groupsClaim === null || groupsAt(claims, groupsClaim) !== null;
  if ((known && groupsKnown) || client.serverMetadata().userinfo_endpoint === undefined)
    return { userinfo: null, incomplete: false };
  try {
    return { userinfo: await fetchUserInfo(client, accessToken, claims.sub), incomplete: false };
  } catch (error) {
    const reason = explained(error, null);
    if (reason instanceof ProviderUnavailable) return { userinfo: null, incomplete: true };
    throw reason;
  }
}

/** No answer at all, or the answer of a server that is not well. `challenged` is what a question for other credentials means. */
export function explained(error: unknown, challenged: string | null): ProviderUnavailable | ProviderRefused {
  const causes = causesOf(error);
  const outgoing = causes.find((cause) => cause instanceof OutgoingError);
  if (outgoing) return new ProviderUnavailable(outgoing.message, outgoing.reason);
  if (error instanceof AuthorizationResponseError) {
    const message = said(`the provider answers ${error.error}`, error.error_description);
    const passing = error.error === 'server_error' || error.error === 'temporarily_unavailable';
    if (passing) return new ProviderUnavailable(message);
    return new ProviderRefused(message, error.error === 'access_denied');
  }
  if (error instanceof ResponseBodyError) {
    const what = REFUSES_CLIENT.test(error.error)
      ? 'the provider does not take the client id and secret'
      : 'the provider answers';
    const message = said(`${what}: ${error.error} (${error.status})`, error.error_description);
    return error.status >= 500 ? new ProviderUnavailable(message) : new ProviderRefused(message);
  }
  if (error instanceof WWWAuthenticateChallengeError)
    return challenged === null
      ? new ProviderUnavailable('userinfo does not take the access token')
      : new ProviderRefused(challenged);
  if (error instanceof ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return new ProviderUnavailable('the provider answers with an unexpected status');
  return new ProviderRefused(causes.map(messageOf).join(': ').slice(0, 300));
}

/** RFC 6749, 5.2. */
export const REFUSES_CLIENT = /^(invalid|unauthorized)_client$/;

/** RFC 6749, 5.2: for whoever set the client up. Text from outside. */
function said(code: string, description: string | undefined): string {
  const words = (description ?? '').replaceAll(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim();
  return `${code.slice(0, 200)}${words && `: ${words}`}`.slice(0, 700);
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let one = error; one instanceof Error && causes.length < 5; one = one.cause) causes.push(one);
  return causes;
}
