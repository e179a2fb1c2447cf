/** What the controller shows of itself, and a store that keeps metrics in the place of Postgres. */
import { ConfigError, type Environment, integer, type Variable } from './values.ts';

export interface MetricsConfig {
  /** Opens `GET /metrics` on the public port; null: it is not there. */
  metricsToken: string | null;
  /** A port of its own for `GET /metrics`, which asks for no token; null: there is none. */
  metricsPort: number | null;
  /** Keeps points of minutes in the place of Postgres; null: there is none. */
  metricsStore: MetricsStoreConfig | null;
}

export interface MetricsStoreConfig {
  writeUrl: string;
  readUrl: string;
  /** Value of the header; null for none. */
  authorization: string | null;
  /** Sent with writes and queries; null where the store has one tenant, or its addresses name it. */
  tenant: TenantHeader | null;
}

export interface TenantHeader {
  name: string;
  value: string;
}

/** Of Mimir and Cortex. */
const DEFAULT_TENANT_HEADER = 'X-Scope-OrgID';

export const METRICS_VARIABLES: readonly Variable[] = [
  {
    name: 'HEADGATE_METRICS_TOKEN',
    default: '(none)',
    help: 'token that GET /metrics asks for, at least 16 characters; unset, it is not served on the public port',
  },
  {
    name: 'HEADGATE_METRICS_PORT',
    default: '(none)',
    help: 'port of HEADGATE_HOST that serves GET /metrics without a token',
  },
  {
    name: 'HEADGATE_METRICS_WRITE_URL',
    default: '(none)',
    help: 'address for Prometheus remote write of a store that keeps metrics by the minute, in place of Postgres',
  },
  {
    name: 'HEADGATE_METRICS_READ_URL',
    default: '(none)',
    help: 'address before /api/v1/query_range of that store',
  },
  {
    name: 'HEADGATE_METRICS_STORE_TOKEN',
    default: '(none)',
    help: 'bearer token for both; or HEADGATE_METRICS_STORE_USER and HEADGATE_METRICS_STORE_PASSWORD',
  },
  { name: 'HEADGATE_METRICS_STORE_USER', default: '(none)', help: 'user name for both, by basic auth' },
  { name: 'HEADGATE_METRICS_STORE_PASSWORD', default: '(none)', help: 'its password' },
  {
    name: 'HEADGATE_METRICS_STORE_TENANT',
    default: '(none)',
    help: 'tenant of that store, sent with writes and queries',
  },
  {
    name: 'HEADGATE_METRICS_STORE_TENANT_HEADER',
    default: DEFAULT_TENANT_HEADER,
    help: 'header that names the tenant',
  },
];

export const readMetricsConfig = (env: Environment): MetricsConfig => ({
  metricsToken: metricsToken(env.HEADGATE_METRICS_TOKEN),
  metricsPort: env.HEADGATE_METRICS_PORT ? integer(env, 'HEADGATE_METRICS_PORT', 9_091, 1, 65_535) : null,
  metricsStore: metricsStore(env),
});

const MIN_TOKEN_CHARS = 16;

function metricsToken(token: string | undefined): string | null {
  if (!token) return null;
  if (token.length < MIN_TOKEN_CHARS || /\s/.test(token))
    throw new ConfigError(
      `HEADGATE_METRICS_TOKEN must have at least ${MIN_TOKEN_CHARS} characters and no blanks`,
    );
  return token;
}

function metricsStore(env: Environment): MetricsStoreConfig | null {
  const [writeUrl, readUrl] = (['HEADGATE_METRICS_WRITE_URL', 'HEADGATE_METRICS_READ_URL'] as const).map(
    (name) => storeUrl(name, env[name]),
  );
  const token = env.HEADGATE_METRICS_STORE_TOKEN;
  const user = env.HEADGATE_METRICS_STORE_USER;
  const password = env.HEADGATE_METRICS_STORE_PASSWORD;
  const tenant = tenantHeader(env);
  if (!writeUrl && !readUrl) {
    if (token || user || password || tenant)
      throw new ConfigError(
        'HEADGATE_METRICS_STORE_… needs HEADGATE_METRICS_WRITE_URL and HEADGATE_METRICS_READ_URL',
      );
    return null;
  }
  if (!writeUrl || !readUrl)
    throw new ConfigError(
      'Set both, HEADGATE_METRICS_WRITE_URL and HEADGATE_METRICS_READ_URL, or none of them',
    );
  if (token && (user || password))
    throw new ConfigError('Set HEADGATE_METRICS_STORE_TOKEN or a user and a password, not both');
  if (Boolean(user) !== Boolean(password))
    throw new ConfigError(
      'Set both, HEADGATE_METRICS_STORE_USER and HEADGATE_METRICS_STORE_PASSWORD, or none of them',
    );
  // The values are not quoted.
  if ([token, user, password].some((value) => value && /[\r\n\0]/.test(value)))
    throw new ConfigError('HEADGATE_METRICS_STORE_… must be one line each');
  const authorization = token
    ? `Bearer ${token}`
    : user
      ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      : null;
  return { writeUrl, readUrl, authorization, tenant };
}

const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
/** What requests to the store bring along anyway, and what belongs to the connection (RFC 9110, 7.6.1). */
const OWN_HEADERS = new Set([
  ...['authorization', 'user-agent', 'host', 'content-type', 'content-encoding', 'content-length'],
  ...['x-prometheus-remote-write-version', 'accept-encoding', 'expect', 'cookie'],
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);
/**
 * Visible ASCII, as long as Mimir takes it. `|` would name several tenants there, which can be asked and not be written to; `/`
 * is in no tenant of Mimir or Thanos.
 */
const TENANT = /^(?!\.{1,2}$)[\x21-\x2e\x30-\x7b\x7d\x7e]{1,150}$/;

/** The value is not quoted: stores without users of their own know nothing else that opens them. */
function tenantHeader(env: Environment): TenantHeader | null {
  const value = env.HEADGATE_METRICS_STORE_TENANT;
  const name = env.HEADGATE_METRICS_STORE_TENANT_HEADER;
  if (!value) {
    if (name)
      throw new ConfigError('HEADGATE_METRICS_STORE_TENANT_HEADER needs HEADGATE_METRICS_STORE_TENANT');
    return null;
  }
  if (!TENANT.test(value))
    throw new ConfigError(
      'HEADGATE_METRICS_STORE_TENANT must be one tenant: 1 to 150 visible ASCII characters, without blanks, / and |, and neither . nor ..',
    );
  if (name && (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase())))
    throw new ConfigError(
      `HEADGATE_METRICS_STORE_TENANT_HEADER must be the name of a header, such as ${DEFAULT_TENANT_HEADER}: 1 to 64 letters, digits and hyphens, and none that Headgate sends itself`,
    );
  return { name: name || DEFAULT_TENANT_HEADER, value };
}

/** The value is not quoted: it may hold a password. */
function storeUrl(name: string, text: string | undefined): string | null {
  if (!text) return null;
  const parsed = URL.parse(text);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password || parsed.hash)
    throw new ConfigError(
      `${name} must be an http:// or https:// address without a user or password, which have variables of their own`,
    );
  return parsed.href;
}
