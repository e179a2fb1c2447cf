/** What may stand in HEADGATE_DATABASE_URL, and how it is given to pg. */
import { nearest } from '../platform/text/nearest-name.ts';

/** Those that pg obeys in an address. It passes over any other in silence: a misspelt sslmode would mean no TLS. */
const PARAMETERS: Readonly<Record<string, 'text' | 'number' | readonly string[]>> = {
  sslmode: ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'],
  sslrootcert: 'text',
  sslcert: 'text',
  sslkey: 'text',
  sslnegotiation: ['postgres', 'direct'],
  ssl: ['true', '1', '0', 'no-verify'],
  uselibpqcompat: ['true', 'false'],
  host: 'text',
  port: 'number',
  user: 'text',
  password: 'text',
  application_name: 'text',
  options: 'text',
  lock_timeout: 'number',
  idle_in_transaction_session_timeout: 'number',
};

/** Those of libpq that mean nothing here and may be left out without anybody losing by it: addresses are copied with them. */
const LEFT_OUT = new Set([
  ...['connect_timeout', 'client_encoding', 'fallback_application_name', 'tcp_user_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
]);

/** Others that nobody misspelt. pg ignores them, while their author relies on them; or they cut off what must end. */
const WITHOUT_EFFECT = [
  ...['statement_timeout', 'query_timeout', 'channel_binding'],
  ...['target_session_attrs', 'gssencmode', 'passfile', 'sslcrl'],
  ...['dbname', 'database', 'schema', 'search_path', 'pgbouncer', 'connection_limit', 'pool_timeout'],
];

const UNREADABLE =
  'cannot be read; it is like postgres://user:password@host:5432/database with one host, and @ : / ? # % in the user and the password are written as %40 %3A %2F %3F %23 %25';

/** The address for pg, or what is wrong with it, which quotes nothing that may belong to a password. */
export function readDatabaseUrl(text: string): { url: string } | { wrong: string } {
  // As pg does: a % that begins no escape stands for itself.
  const url = parseDatabaseUrl(text.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'));
  if (url === null || endsEarly(text) || !isDecodable(url)) return { wrong: UNREADABLE };
  for (const name of LEFT_OUT) if (url.searchParams.has(name)) url.searchParams.delete(name);
  const wrong = wrongParameter(url.searchParams);
  if (wrong !== null) return { wrong };
  makeStrict(url.searchParams);
  return { url: url.href.replace(`@${NO_HOST}/`, '@/') };
}

const NO_HOST = '___no_host___';

/** Null where it is none. With `?host=<folder of the socket>` the place of the host may be empty, which URL takes for none. */
export function parseDatabaseUrl(text: string): URL | null {
  const url = URL.parse(text);
  return url ?? URL.parse(text.replace('@/', `@${NO_HOST}/`));
}

/** Empty where there is none. */
export const hostOf = (url: URL): string => (url.hostname === NO_HOST ? '' : url.hostname);

/** The / ? or # of a password ends the address before its host; digits before it even make a port of it. */
function endsEarly(text: string): boolean {
  const [, rest = ''] = /^[^:]*:\/\/[^/?#]*(.*)$/s.exec(text) ?? [];
  return /[@#]/.test(rest);
}

function isDecodable({ username, password, hostname, pathname }: URL): boolean {
  try {
    return [username, password, hostname, pathname].map(decodeURIComponent).length > 0;
  } catch {
    return false;
  }
}

function wrongParameter(parameters: URLSearchParams): string | null {
  for (const [name, value] of parameters) {
    const takes = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    if (takes === undefined) return unknownParameter(name, parameters.has('password'));
    if (parameters.getAll(name).length > 1) return `has ${name} twice; take one of them out`;
    if (takes === 'number' && !/^\d{1,9}$/.test(value)) return `has ${name} without a whole number after it`;
    if (typeof takes === 'object' && !takes.includes(value))
      return `has an unknown value of ${name}${quoted(value)}; it takes ${takes.join(', ')}`;
  }
  const { uselibpqcompat, sslmode, sslrootcert } = Object.fromEntries(parameters);
  return uselibpqcompat === 'true' && sslmode === 'verify-ca' && !sslrootcert
    ? 'has sslmode=verify-ca with uselibpqcompat=true, which needs sslrootcert=<file with the authority>; add it, or write sslmode=verify-full'
    : null;
}

function unknownParameter(name: string, hasPassword: boolean): string {
  // It may be the end of that password.
  if (hasPassword)
    return 'has a parameter that has no effect here; take it out, or write & in the password as %26';
  const near = WITHOUT_EFFECT.includes(name) ? null : nearest(name, Object.keys(PARAMETERS));
  const advice =
    near === null ? `take it out; it takes ${Object.keys(PARAMETERS).join(', ')}` : `did you mean ${near}?`;
  return `has a parameter that has no effect here${quoted(name)}; ${advice}`;
}

const quoted = (text: string): string => (/^[\w.-]{1,40}$/.test(text) ? `, "${text}"` : '');

/** To pg these mean verify-full as well, and it warns of each. As libpq means them, which is less, where that is asked for. */
function makeStrict(parameters: URLSearchParams): void {
  if (parameters.get('uselibpqcompat') === 'true') return;
  if (/^(?:prefer|require|verify-ca)$/.test(parameters.get('sslmode') ?? ''))
    parameters.set('sslmode', 'verify-full');
}
