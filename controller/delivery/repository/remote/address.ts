/**
 * The address of a remote: an http(s) or ssh URL, or `user@host:path`. Refuses what git reads as a command, an option or a local
 * file, and what users do not see or should not share: control characters, queries, credentials.
 */
import { isIPv6 } from 'node:net';

export interface RemoteAddress {
  transport: 'http' | 'https' | 'ssh';
  /** Normalized: equal addresses are one repository. */
  url: string;
  /** Without brackets. */
  host: string;
  port: number;
  /** For ssh. */
  user: string | null;
}

/** The message names what to write instead. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

const FORMS = 'write https://host/path.git, ssh://git@host/path.git or git@host:path.git';
const MAX_LENGTH = 2_048;
const NAME = /^(?!-)[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?$/i;
const USER = /^[a-z0-9_][a-z0-9._+-]*$/i;
/** Printable ASCII without characters that mean something in a shell or in git's own files. */
const PATH = /^[a-z0-9._~%+,=@:/!$&'()*-]+$/i;
const SCP = /^([^\s/:@]+)@(\[[^\]]+\]|[^\s/:@[\]]+):([^:].*|)$/;

/** @throws AddressError */
export function readAddress(text: string): RemoteAddress {
  if (text.length > MAX_LENGTH || /[^\x21-\x7e]/.test(text) || text.startsWith('-'))
    throw new AddressError(`the address of a repository has no blanks and no special characters; ${FORMS}`);
  if (/^[a-z0-9+.-]+::/i.test(text))
    throw new AddressError(`"${text.split('::')[0]}::" would run a program on the controller; ${FORMS}`);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') return webAddress(text);
  if (scheme === 'ssh') return sshAddress(text);
  const scp = scheme === undefined ? SCP.exec(text) : null;
  if (scp) return scpAddress(scp);
  if (scheme === 'file' || text.startsWith('file:') || /^[./~]/.test(text))
    throw new AddressError(`folders of the controller cannot be bound; ${FORMS}`);
  throw new AddressError(
    scheme === undefined
      ? `this is not the address of a repository; ${FORMS}`
      : `${scheme}:// is not supported; ${FORMS}`,
  );
}

function webAddress(text: string): RemoteAddress {
  const url = URL.parse(text);
  if (!url) throw new AddressError(`this is not an address; ${FORMS}`);
  if (url.username || url.password)
    throw new AddressError(
      'a user name or password in the address would be visible to everybody who sees the address; give them as credentials',
    );
  if (url.search || url.hash || text.includes('?') || text.includes('#'))
    throw new AddressError('the address of a repository has no ? and no #; leave them out');
  // Git would resolve a name with a dot at its end itself, past the address that was checked.
  url.hostname = url.hostname.replace(/\.$/, '');
  const transport = url.protocol === 'https:' ? 'https' : 'http';
  const host = checkedHost(url.hostname);
  return {
    transport,
    url: `${transport}://${url.host}${checkedPath(url.pathname)}`,
    host,
    port: url.port === '' ? (transport === 'https' ? 443 : 80) : Number(url.port),
    user: null,
  };
}

function sshAddress(text: string): RemoteAddress {
  const found = /^ssh:\/\/(?:([^@/]*)@)?(\[[^\]]*\]|[^:/@]*)(?::(\d{0,5}))?(\/.*)?$/i.exec(text);
  if (!found) throw new AddressError(`this is not an address; ${FORMS}`);
  const user = checkedUser(found[1] ?? '');
  const host = checkedHost((found[2] ?? '').toLowerCase());
  const port = found[3] ? Number(found[3]) : 22;
  if (port < 1 || port > 65_535) throw new AddressError('the port of the address is not between 1 and 65535');
  const path = checkedPath(found[4] ?? '');
  const at = port === 22 ? '' : `:${port}`;
  return { transport: 'ssh', url: `ssh://${user}@${bracketed(host)}${at}${path}`, host, port, user };
}

/** A path without a leading slash is relative to the user's home, which an ssh:// URL cannot express as plainly. */
function scpAddress([, givenUser = '', givenHost = '', path = '']: RegExpExecArray): RemoteAddress {
  const user = checkedUser(givenUser);
  const host = checkedHost(givenHost.toLowerCase());
  if (path.startsWith('/')) return sshAddress(`ssh://${user}@${bracketed(host)}${path}`);
  if (path.startsWith('-')) throw new AddressError('the path of a repository does not begin with -');
  const checked = checkedPath(`/${path}`).slice(1);
  return { transport: 'ssh', url: `${user}@${bracketed(host)}:${checked}`, host, port: 22, user };
}

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host);

function checkedUser(user: string): string {
  if (user.includes(':'))
    throw new AddressError(
      'a password in the address would be visible to everybody who sees the address; ssh needs a key, given as credentials',
    );
  if (user === '')
    throw new AddressError('the address has no user; most servers expect ssh://git@host/path.git');
  if (!USER.test(user) || user.length > 64)
    throw new AddressError('the user name of the address is not valid');
  return user;
}

function checkedHost(given: string): string {
  const host = given.replace(/^\[(.*)\]$/, '$1');
  const fine = host.length <= 253 && (isIPv6(host) || NAME.test(host));
  if (!fine) throw new AddressError(`the host of the address is not valid; ${FORMS}`);
  return host;
}

/** Trailing slashes mean nothing. */
function checkedPath(given: string): string {
  const path = given.replace(/\/+$/, '');
  if (path === '') throw new AddressError(`the address has no path; ${FORMS}`);
  const control = /%(?:[01][0-9a-f]|7f)/i.test(path);
  if (control || !PATH.test(path) || /%(?![0-9a-f]{2})/i.test(path) || path.split('/').includes('..'))
    throw new AddressError(`the path of the address has characters that are not supported; ${FORMS}`);
  return path;
}

/** Credentials are only sent to the address that they were given for, so a new address needs new ones. */
export const isSameAddress = (a: RemoteAddress, b: RemoteAddress): boolean =>
  a.transport === b.transport && a.host === b.host && a.port === b.port;
