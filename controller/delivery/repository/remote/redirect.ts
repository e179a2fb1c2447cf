/**
 * Redirects of git servers (GitLab for an address without `.git`, every forge for a renamed repository) are followed where
 * scheme, host and port stay: the credentials of the binding belong to that origin (RFC 9110, section 15.4).
 */
import { readAddress } from './address.ts';

/** After this many it is a circle. */
export const MOST_REDIRECTS = 5;
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const REFS = /\/info\/refs$/;

export interface Redirect {
  /** The repository that is meant; null where the target is none. */
  url: string | null;
  sameOrigin: boolean;
  /** What may be shown of it. */
  shown: string;
}

/** `location` as the server sent it in answer to a request for `url`. */
export function readRedirect(location: string | undefined, url: string): Redirect {
  const target = location === undefined ? null : URL.parse(location, url);
  if (!target) return { url: null, sameOrigin: false, shown: 'another address' };
  const repository = REFS.test(target.pathname) ? target.pathname.replace(REFS, '') : null;
  const address = repository === null ? null : readable(`${target.origin}${repository}`);
  return {
    url: address,
    sameOrigin: target.origin === new URL(url).origin && target.username === '' && target.password === '',
    shown: address ?? target.origin,
  };
}

function readable(url: string): string | null {
  try {
    return readAddress(url).url;
  } catch {
    return null;
  }
}
