/**
 * Why a forge does not allow something, and what to do about that very cause: GitHub tells it by headers
 * (https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api) and by its message, the others by their message.
 */
import type { ForgeFault } from '../forge.ts';

export interface Denial {
  fault: ForgeFault;
  /** What is wrong and what to do; begins behind the name of the forge. */
  advice: string;
}

/** `x-accepted-github-permissions`: what is wanted of each permission; `;` is between sets of which one is enough. */
const PERMISSIONS = /^[a-z_]+=(?:read|write|admin)(?:[,;] ?[a-z_]+=(?:read|write|admin))*$/;

/** Of status 403; null where nothing tells the cause. */
export function denialOf({ headers, message }: { headers: Headers; message: string }): Denial | null {
  const sso = headers.get('x-github-sso');
  if (sso !== null) {
    const url = webAddress(/url=(\S+)/.exec(sso)?.[1]);
    return {
      fault: 'credentials',
      advice: `wants the token to be authorized for the single sign-on of the organization${url === null ? '; authorize it under Settings → Developer settings → the token → Configure SSO' : ` at ${url}`}`,
    };
  }
  if (/ip allow list|ip address.*not (?:allowed|permitted)|not in the list of allowed IP/i.test(message))
    return {
      fault: 'credentials',
      advice:
        'does not take requests from the address of the controller; add it to the IP allow list of the organization',
    };
  if (/archived/i.test(message))
    return {
      fault: 'refused',
      advice: 'has archived the project, which is read-only; unarchive it, or set forge to none',
    };
  if (/\blocked\b/i.test(message))
    return {
      fault: 'refused',
      advice: 'has locked this conversation; unlock it there for the plan to be posted',
    };
  const wanted = headers.get('x-accepted-github-permissions');
  if (wanted !== null && wanted.length <= 200 && PERMISSIONS.test(wanted))
    return {
      fault: 'credentials',
      advice: `misses a permission of the token: it needs ${wanted.replaceAll(/, ?/g, ' and ').replaceAll(/; ?/g, ' or ').replaceAll('=', ': ')}; give it there, and have the organization approve it`,
    };
  return null;
}

/** Nothing but a page of the web, without a password in it. */
function webAddress(text: string | undefined): string | null {
  const url = text === undefined || text.length > 500 ? null : URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
}
