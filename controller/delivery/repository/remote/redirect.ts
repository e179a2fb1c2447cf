/**
 * Redirects of git servers (GitLab for an address without `.git`, every forge for a renamed repository). They are followed only
 * within scheme, host and port: the credentials of the binding belong to that origin (RFC 9110, section 15.4).
 */
import { readAddress } from './address.ts';

/** More count as a circle. */
export const MAX_REDIRECTS = 5;
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const REFS = /\/info\/refs$/;

export interface Redirect {
  /** The repository of the target; null when it is not one. */
  url: string | null;
  sameOrigin: boolean;
  /** May be display to users. */
  display: string;
}

/** `location` is the header of the answer to a request for `url`. */
export function readRedirect(location: string | undefined, url: string): Redirect {
  const target = location === undefined ? null : URL.parse(location, url);
  if (!target) return { url: null, sameOrigin: false, display: 'another address' };
  const repository = REFS.test(target.pathname) ? target.pathname.replace(REFS, '') : null;
  const address = repository === null ? null : readable(`${target.origin}${repository}`);
  return {
    url: address,
    sameOrigin: target.origin === new URL(url).origin && target.username === '' && target.password === '',
    display: address ?? target.origin,
  };
}

function readable(url: string): string | null {
  try {
    return readAddress(url).url;
  } catch {
    return null;
  }
}
