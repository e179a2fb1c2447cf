/** The refresh token, with which a provider is asked about a user in their absence. */

export interface RefreshToken {
  token: string;
  /** The token outlives the session at the provider: OpenID Connect Core 1.0, section 11. */
  isOffline: boolean;
}

const OFFLINE = 'offline_access';
const LENGTH = 8_000;

/** A provider omits `scope` where it grants everything that was requested: RFC 6749, 5.1. */
export function refreshTokenOf(
  { refresh_token: token, scope }: { refresh_token?: string; scope?: string },
  requestedOffline: boolean,
): RefreshToken | null {
  if (!token || token.length > LENGTH) return null;
  const isOffline = scope === undefined ? requestedOffline : scope.split(' ').includes(OFFLINE);
  return { token, isOffline };
}

/** Only for providers that list the scope, because others reject unknown scopes. */
export const requestsOffline = (wanted: boolean, scopesSupported: readonly string[] | undefined): boolean =>
  wanted && (scopesSupported?.includes(OFFLINE) ?? false);
