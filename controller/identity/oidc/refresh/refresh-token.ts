/** What lets us ask a provider after somebody without them. */

export interface RefreshToken {
  token: string;
  /** It outlives the session at the provider: OpenID Connect Core 1.0, section 11. */
  isOffline: boolean;
}

const OFFLINE = 'offline_access';
const LENGTH = 8_000;

/** `scope` is left out where all that was asked for is granted: RFC 6749, 5.1. */
export function refreshTokenOf(
  { refresh_token: token, scope }: { refresh_token?: string; scope?: string },
  askedOffline: boolean,
): RefreshToken | null {
  if (!token || token.length > LENGTH) return null;
  const isOffline = scope === undefined ? askedOffline : scope.split(' ').includes(OFFLINE);
  return { token, isOffline };
}

/** Asked for where super admins want it, of those who offer it: others refuse scopes that they do not know. */
export const asksOffline = (wanted: boolean, scopesSupported: readonly string[] | undefined): boolean =>
  wanted && (scopesSupported?.includes(OFFLINE) ?? false);
