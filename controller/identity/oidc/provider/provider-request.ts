/** Exchanges the code of a callback for the verified identity of a user: OpenID Connect Core 1.0, 3.1.3.7 and 5.3. */
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
  type ClaimedGroups,
  type Claims,
  groupsAt,
  mergedProfile,
  type Profile,
  profileOf,
  provesSecondFactor,
  trustedProfile,
  withPrefix,
} from '../sign-in/claims.ts';
import type { OidcProvider } from './provider-store.ts';

/** For all requests of one sign-in together. */
const SIGN_IN_MS = 20_000;
/** The ID token is the hint at sign-out; a longer one is not stored. */
const ID_TOKEN_LENGTH = 16_000;

export interface ProviderIdentity {
  issuer: string;
  subject: string;
  profile: Profile;
  /** Null while no setting needs groups. */
  groups: ClaimedGroups | null;
  /** Userinfo did not answer, so claims that the ID token lacks are unknown. */
  incomplete: boolean;
  /** The claim of the settings that neither the ID token nor userinfo has. */
  missingClaim: string | null;
  /** Whether `amr` or `acr` proves a second factor. */
  hasSecondFactor: boolean;
  idToken: string | undefined;
  /** The provider's id of this session: OpenID Connect Back-Channel Logout 1.0, 2.1. */
  sid: string | null;
  refreshToken: RefreshToken | null;
}

/** The provider did not answer or is faulty: a retry may succeed. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
  /** Details for the log that the message omits. */
  readonly reason: string | null;
  constructor(message: string, reason: string | null = null) {
    super(message);
    this.reason = reason;
  }
}
/** The provider rejected the request, or its reply is not trustworthy. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
  /** The provider denies access to the user: RFC 6749, 4.1.2.1, `access_denied`. */
  readonly isDenial: boolean;
  constructor(message: string, isDenial = false) {
    super(message);
    this.isDenial = isDenial;
  }
}

/** @throws ProviderUnavailable or ProviderRefused; their messages are for administrators and the log, and contain no token. */
export async function requestProvider(
  ctx: Context,
  request: {
    provider: OidcProvider;
    attempt: Attempt;
    /** Our callback address with the parameters of the provider. */
    url: URL;
    /** The claim with the groups; null while no setting needs groups. */
    groupsClaim: string | null;
  },
): Promise<ProviderIdentity> {
  const { provider, attempt, url, groupsClaim } = request;
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
    const reason = toProviderError(error, 'the provider does not accept the client id and secret');
    // The cached metadata and keys may be outdated.
    if (!(error instanceof ResponseBodyError)) identityProvider.forget();
    throw reason;
  });
  const claims = tokens.claims();
  if (!claims?.sub || claims.sub.length > 255 || /[\p{Cc}\p{Cs}]/u.test(claims.sub))
    throw new ProviderRefused('the ID token has no valid subject');
  const { userinfo, incomplete } = await completeFromUserinfo(
    client,
    tokens.access_token,
    claims,
    groupsClaim,
  );
  const claimed =
    groupsClaim === null
      ? null
      : (groupsAt(claims, groupsClaim) ?? (userinfo && groupsAt(userinfo, groupsClaim)));
  const { options } = provider;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    profile: trustedProfile(
      mergedProfile(profileOf(claims), userinfo && profileOf(userinfo)),
      options.verifiesEmails,
    ),
    groups:
      groupsClaim === null
        ? null
        : withPrefix(claimed ?? groupsWithoutClaim(incomplete), options.groupPrefix),
    incomplete,
    missingClaim: claimed === null && !incomplete ? groupsClaim : null,
    hasSecondFactor: provesSecondFactor(claims, options.secondFactorClaims),
    sid: sidOf(claims),
    refreshToken: refreshTokenOf(tokens, attempt.offline),
    idToken: (tokens.id_token?.length ?? 0) <= ID_TOKEN_LENGTH ? tokens.id_token : undefined,
  };
}

const sidOf = ({ sid }: Claims): string | null =>
  typeof sid === 'string' && sid !== '' && sid.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(sid) ? sid : null;

/** Most providers omit the claim for a user without groups. */
const groupsWithoutClaim = (incomplete: boolean): ClaimedGroups =>
  incomplete ? { known: false, reason: 'userinfo did not answer' } : { known: true, names: [] };

/** Requests userinfo where the ID token lacks claims. */
export async function completeFromUserinfo(
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
    const reason = toProviderError(error, null);
    if (reason instanceof ProviderUnavailable) return { userinfo: null, incomplete: true };
    throw reason;
  }
}

/** Classifies an error as an unavailable or a refusing provider. `challenged` is the message for a request for other credentials. */
export function toProviderError(
  error: unknown,
  challenged: string | null,
): ProviderUnavailable | ProviderRefused {
  const causes = causesOf(error);
  const outgoing = causes.find((cause) => cause instanceof OutgoingError);
  if (outgoing) return new ProviderUnavailable(outgoing.message, outgoing.reason);
  if (error instanceof AuthorizationResponseError) {
    const message = quoteError(`the provider answers ${error.error}`, error.error_description);
    const passing = error.error === 'server_error' || error.error === 'temporarily_unavailable';
    if (passing) return new ProviderUnavailable(message);
    return new ProviderRefused(message, error.error === 'access_denied');
  }
  if (error instanceof ResponseBodyError) {
    const what = REFUSES_CLIENT.test(error.error)
      ? 'the provider does not accept the client id and secret'
      : 'the provider answers';
    const message = quoteError(`${what}: ${error.error} (${error.status})`, error.error_description);
    return error.status >= 500 ? new ProviderUnavailable(message) : new ProviderRefused(message);
  }
  if (error instanceof WWWAuthenticateChallengeError)
    return challenged === null
      ? new ProviderUnavailable('userinfo does not accept the access token')
      : new ProviderRefused(challenged);
  if (error instanceof ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return new ProviderUnavailable('the provider answers with an unexpected status');
  return new ProviderRefused(causes.map(messageOf).join(': ').slice(0, 300));
}

/** RFC 6749, 5.2. */
export const REFUSES_CLIENT = /^(invalid|unauthorized)_client$/;

/** The error code and description of the provider for the administrator (RFC 6749, 5.2), limited, because it is external text. */
function quoteError(code: string, description: string | undefined): string {
  const text = (description ?? '').replaceAll(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim();
  return `${code.slice(0, 200)}${text && `: ${text}`}`.slice(0, 700);
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < 5; current = current.cause)
    causes.push(current);
  return causes;
}
