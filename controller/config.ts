/** The only reader of the environment. Every variable that the controller knows, its default, and what it is for. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { delimiter, isAbsolute, join, normalize, resolve } from 'node:path';
import { readDatabaseUrl } from './database/database-url.ts';
import { readSmtpConfig, type SmtpConfig } from './platform/net/mail/smtp-config.ts';
import { isPrivateTarget } from './platform/net/outgoing/addresses.ts';
import { type ProxySettings, readProxies, unusableProxy } from './platform/net/proxies.ts';
import { LOG_LEVELS, type LogLevel } from './platform/runtime/logger.ts';
import type { ExecRequest } from './secrets/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Config {
  host: string;
  port: number;
  baseUrl: string;
  dataDir: string;
  /** Null starts the embedded Postgres. */
  databaseUrl: string | null;
  secretKey: string | null;
  /** Earlier keys, which open what they sealed and seal nothing. */
  previousSecretKeys: string[];
  /** Command lines that environments may ask for secrets, their parts one blank apart; none turns the backend EXEC off. */
  execSecretCommands: string[];
  /** The `config` sent to those that speak version 1.1 of the protocol, by command line. */
  execSecretRequests: ReadonlyMap<string, ExecRequest>;
  adminEmail: string;
  adminPassword: string | null;
  logLevel: LogLevel;
  trustedProxies: string[];
  /** Those that git servers, forges and identity providers are reached by. */
  outgoingProxies: ProxySettings;
  /** Hosts and networks that the controller may connect to for its users though they are private. */
  privateTargets: string[];
  /** Sign-in by identity providers, where a file says it. */
  oidcFile: { path: string; env: Environment } | null;
  /** The engine that checks configs; null when there is none. */
  engineBin: string | null;
  enrollPerMinute: number;
  /** How long a push is kept for the report of what it did. */
  pushWaitSeconds: number;
  /** Folder of the agents that are served to nodes. */
  agentReleases: string;
  /** Opens `GET /metrics` on the public port; null: it is not there. */
  metricsToken: string | null;
  /** A port of its own for `GET /metrics`, which asks for no token; null: there is none. */
  metricsPort: number | null;
  /** Keeps points of minutes in the place of Postgres; null: there is none. */
  metricsStore: MetricsStoreConfig | null;
  /** Sends the e-mail of notifications; null: there is none. */
  smtp: SmtpConfig | null;
}

export interface MetricsStoreConfig {
  writeUrl: string;
  readUrl: string;
  /** Value of the header; null for none. */
  authorization: string | null;
}

export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

interface Variable {
  name: string;
  default: string;
  help: string;
}

export const VARIABLES: readonly Variable[] = [
  { name: 'HEADGATE_HOST', default: '127.0.0.1', help: 'address to listen on; 0.0.0.0 in containers' },
  { name: 'HEADGATE_PORT', default: '8080', help: 'port to listen on' },
  {
    name: 'HEADGATE_BASE_URL',
    default: 'http://localhost:<port>',
    help: 'address under which browsers, agents and git reach it',
  },
  {
    name: 'HEADGATE_DATA_DIR',
    default: './.headgate',
    help: 'folder for the repository, keys and the embedded Postgres',
  },
  {
    name: 'HEADGATE_DATABASE_URL',
    default: '(embedded)',
    help: 'postgres://… ; unset starts the embedded Postgres',
  },
  {
    name: 'HEADGATE_SECRET_KEY',
    default: '(made once)',
    help: 'key for encryption at rest, at least 32 characters; the same on every replica',
  },
  {
    name: 'HEADGATE_PREVIOUS_SECRET_KEYS',
    default: '(none)',
    help: 'earlier keys that still open what they encrypted, comma-separated; see headgate keys --help',
  },
  {
    name: 'HEADGATE_EXEC_SECRET_COMMANDS',
    default: '(none)',
    help: 'programs that environments may ask for secrets: absolute paths with their arguments, comma-separated',
  },
  {
    name: 'HEADGATE_EXEC_SECRET_CONFIGS',
    default: '(none)',
    help: 'JSON file with type and config of those of the programs that speak protocol 1.1, by command',
  },
  { name: 'HEADGATE_ADMIN_EMAIL', default: 'admin@localhost', help: 'first administrator' },
  {
    name: 'HEADGATE_ADMIN_PASSWORD',
    default: '(generated)',
    help: 'its password, at least 8 characters and no common one; or HEADGATE_ADMIN_PASSWORD_FILE',
  },
  { name: 'HEADGATE_LOG_LEVEL', default: 'info', help: LOG_LEVELS.join(', ') },
  {
    name: 'HEADGATE_TRUSTED_PROXIES',
    default: '(none)',
    help: 'addresses or networks whose X-Forwarded-For is believed, comma-separated',
  },
  {
    name: 'HEADGATE_PRIVATE_TARGETS',
    default: '(none)',
    help: 'private hosts, addresses and networks that may be connected to (git, forges, secret stores, OIDC, webhooks), comma-separated',
  },
  {
    name: 'HEADGATE_OIDC_FILE',
    default: '(none)',
    help: 'YAML file of identity providers, groups and access, in place of the settings; see docs/single-sign-on.md',
  },
  {
    name: 'HEADGATE_ENGINE_BIN',
    default: 'vector on the path',
    help: 'engine that checks configs before they are accepted',
  },
  { name: 'HEADGATE_ENROLL_PER_MINUTE', default: '10', help: 'enrollments a minute from one address' },
  {
    name: 'HEADGATE_PUSH_WAIT_SECONDS',
    default: '3',
    help: 'how long git push waits for the report of what it did, 1 to 60',
  },
  {
    name: 'HEADGATE_AGENT_RELEASES',
    default: 'dist/agent-release',
    help: 'folder of the agents that are served to nodes, as make agent-release writes it',
  },
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
    name: 'HEADGATE_SMTP_URL',
    default: '(none)',
    help: 'mail server for alerts by e-mail: smtps://user:password@host, or smtp:// with STARTTLS; see docs/notifications.md',
  },
  { name: 'HEADGATE_SMTP_FROM', default: '(none)', help: 'address that these e-mails come from' },
  {
    name: 'HEADGATE_SMTP_CA_FILE',
    default: '(none)',
    help: 'PEM file of authorities that sign the certificate of the mail server',
  },
  {
    name: 'HTTPS_PROXY',
    default: '(none)',
    help: 'proxy by which https:// git servers, forges, identity providers, webhooks, Vault and AWS Secrets Manager are reached',
  },
  {
    name: 'HTTP_PROXY',
    default: '(none)',
    help: 'proxy by which http:// git servers, forges, identity providers, webhooks, Vault and AWS Secrets Manager are reached',
  },
  {
    name: 'NO_PROXY',
    default: '(none)',
    help: 'hosts and networks that are reached without one, comma-separated, without http://',
  },
];
/** The last two are for the commands that ask a server, and may be set where one runs. */
const ALSO_KNOWN = new Set(['HEADGATE_ADMIN_PASSWORD_FILE', 'HEADGATE_URL', 'HEADGATE_API_KEY']);

export function readConfig(env: Environment): Config {
  const known = new Set([...VARIABLES.map((variable) => variable.name), ...ALSO_KNOWN]);
  const strange = Object.keys(env).find((name) => name.startsWith('HEADGATE_') && !known.has(name));
  if (strange)
    throw new ConfigError(`${strange} is not a variable that Headgate knows; see headgate serve --help`);

  const port = integer(env, 'HEADGATE_PORT', 8080, 1, 65_535);
  const baseUrl = url(env.HEADGATE_BASE_URL || `http://localhost:${port}`);
  const level = env.HEADGATE_LOG_LEVEL || 'info';
  if (!isLogLevel(level)) throw new ConfigError(`HEADGATE_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  const adminPassword = passwordOf(env);
  if (adminPassword !== null && adminPassword.length < 8) {
    throw new ConfigError('HEADGATE_ADMIN_PASSWORD must have at least 8 characters');
  }
  return {
    host: env.HEADGATE_HOST || '127.0.0.1',
    port,
    baseUrl,
    dataDir: resolve(env.HEADGATE_DATA_DIR || './.headgate'),
    databaseUrl: databaseUrl(env.HEADGATE_DATABASE_URL),
    secretKey: env.HEADGATE_SECRET_KEY || null,
    previousSecretKeys: listed(env.HEADGATE_PREVIOUS_SECRET_KEYS),
    ...execSecrets(env),
    adminEmail: env.HEADGATE_ADMIN_EMAIL || 'admin@localhost',
    adminPassword,
    logLevel: level,
    trustedProxies: proxies(env.HEADGATE_TRUSTED_PROXIES),
    outgoingProxies: outgoingProxies(env),
    privateTargets: privateTargets(env.HEADGATE_PRIVATE_TARGETS),
    // It names the variables that hold its secrets.
    oidcFile: env.HEADGATE_OIDC_FILE ? { path: resolve(env.HEADGATE_OIDC_FILE), env } : null,
    engineBin: engine(env),
    enrollPerMinute: integer(env, 'HEADGATE_ENROLL_PER_MINUTE', 10, 1, 1_000_000),
    pushWaitSeconds: integer(env, 'HEADGATE_PUSH_WAIT_SECONDS', 3, 1, 60),
    metricsToken: metricsToken(env.HEADGATE_METRICS_TOKEN),
    metricsPort: env.HEADGATE_METRICS_PORT ? integer(env, 'HEADGATE_METRICS_PORT', 9_091, 1, 65_535) : null,
    metricsStore: metricsStore(env),
    smtp: smtp(env),
    agentReleases: resolve(env.HEADGATE_AGENT_RELEASES || join(import.meta.dirname, '../dist/agent-release')),
  };
}

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
  if (!writeUrl && !readUrl) {
    if (token || user || password)
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
  return { writeUrl, readUrl, authorization };
}

function smtp(env: Environment): SmtpConfig | null {
  const { HEADGATE_SMTP_URL: address, HEADGATE_SMTP_FROM: from, HEADGATE_SMTP_CA_FILE: file } = env;
  if (!address) {
    if (from || file) throw new ConfigError('HEADGATE_SMTP_… needs HEADGATE_SMTP_URL');
    return null;
  }
  const read = readSmtpConfig(address, from, file ? authorities(file) : null);
  if ('wrong' in read) throw new ConfigError(read.wrong);
  return read;
}

function authorities(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch {
    // The same sentence serves both.
  }
  throw new ConfigError(`HEADGATE_SMTP_CA_FILE: ${file} is not a PEM file of certificates`);
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

const MOST_CONFIGS = 256 * 1024;

/** Set by the operator alone: the config of a program decides what it reads. */
function execSecrets(env: Environment): Pick<Config, 'execSecretCommands' | 'execSecretRequests'> {
  const execSecretCommands = programs(env.HEADGATE_EXEC_SECRET_COMMANDS);
  const file = env.HEADGATE_EXEC_SECRET_CONFIGS;
  const wrong = (why: string) => new ConfigError(`HEADGATE_EXEC_SECRET_CONFIGS: ${why}`);
  if (!file) return { execSecretCommands, execSecretRequests: new Map() };
  let entries: [string, unknown][];
  try {
    if (statSync(file).size > MOST_CONFIGS) throw wrong(`${file} is larger than 256 KiB`);
    entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as object);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // What was read may hold credentials.
    const { code } = error as NodeJS.ErrnoException;
    throw wrong(code ? `${file} cannot be read (${code})` : `${file} is no JSON object`);
  }
  const execSecretRequests = new Map<string, ExecRequest>();
  for (const [line, value] of entries) {
    const shortened = line.slice(0, 60);
    if (!execSecretCommands.includes(line))
      throw wrong(`"${shortened}" is none of the commands in HEADGATE_EXEC_SECRET_COMMANDS`);
    const { type, config } = (value ?? {}) as Partial<ExecRequest>;
    const isObject = typeof config === 'object' && config !== null && !Array.isArray(config);
    if (typeof type !== 'string' || type === '' || !isObject)
      throw wrong(`"${shortened}" needs {"type": "<name>", "config": {…}}`);
    execSecretRequests.set(line, { type, config });
  }
  return { execSecretCommands, execSecretRequests };
}

const isLogLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text);

function integer(env: Environment, name: string, fallback: number, least: number, most: number): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new ConfigError(
      `${name} must be a whole number from ${least} to ${most}, not "${text.slice(0, 40)}"`,
    );
  }
  return value;
}

function url(text: string): string {
  const parsed = URL.parse(text);
  if (
    !parsed ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.search ||
    parsed.hash ||
    parsed.pathname !== '/'
  ) {
    throw new ConfigError('HEADGATE_BASE_URL must be like https://headgate.example.com, without a path');
  }
  return parsed.origin;
}

function databaseUrl(text: string | undefined): string | null {
  if (!text) return null;
  if (!/^postgres(ql)?:\/\//.test(text))
    throw new ConfigError('HEADGATE_DATABASE_URL must begin with postgres://');
  const read = readDatabaseUrl(text);
  if ('wrong' in read) throw new ConfigError(`HEADGATE_DATABASE_URL ${read.wrong}`);
  return read.url;
}

/** The value is not quoted: it may hold a password. */
function outgoingProxies(env: Environment): ProxySettings {
  const name = unusableProxy(env);
  if (name === null) return readProxies(env);
  throw new ConfigError(
    /^no_/i.test(name)
      ? `${name} must be host names, addresses and networks, comma-separated, each perhaps with a port and none with ://`
      : `${name} must be the address of an HTTP proxy, like http://proxy.example.com:3128`,
  );
}

function passwordOf(env: Environment): string | null {
  const file = env.HEADGATE_ADMIN_PASSWORD_FILE;
  if (!file) return env.HEADGATE_ADMIN_PASSWORD || null;
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    throw new ConfigError(`HEADGATE_ADMIN_PASSWORD_FILE: ${file} cannot be read`);
  }
}

const listed = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);

function programs(text: string | undefined): string[] {
  const entries = listed(text).map((entry) => entry.split(/\s+/).join(' '));
  const bad = entries.find((entry) => {
    const [path = ''] = entry.split(' ');
    return !isAbsolute(path) || normalize(path) !== path;
  });
  if (bad !== undefined)
    throw new ConfigError(
      `HEADGATE_EXEC_SECRET_COMMANDS: "${bad.slice(0, 60)}" is not an absolute path without . and ..`,
    );
  return entries;
}

function proxies(text: string | undefined): string[] {
  const entries = listed(text);
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const bad = isIP(address) === 0 || (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most));
    if (bad)
      throw new ConfigError(`HEADGATE_TRUSTED_PROXIES: "${entry.slice(0, 60)}" is not an address or network`);
  }
  return entries;
}

function privateTargets(text: string | undefined): string[] {
  const entries = listed(text);
  const bad = entries.find((entry) => !isPrivateTarget(entry));
  if (bad !== undefined)
    throw new ConfigError(
      `HEADGATE_PRIVATE_TARGETS: "${bad.slice(0, 60)}" is not a host name, an address or a network`,
    );
  return entries;
}

function engine(env: Environment): string | null {
  const given = env.HEADGATE_ENGINE_BIN;
  if (given) {
    if (!existsSync(given)) throw new ConfigError(`HEADGATE_ENGINE_BIN: ${given} does not exist`);
    return resolve(given);
  }
  return onPath(env, 'vector');
}

/** What the demo adds: where its agents begin to count their ports. */
export interface DemoConfig {
  /** Null where it is not set: free ports are looked for. */
  portBase: number | null;
  metricsPort: number;
  /** Null picks the reference engine where Vector is not installed. */
  engineBin: string | null;
}

export function readDemoConfig(env: Environment): DemoConfig {
  return {
    portBase: env.SVC_PORT_BASE ? integer(env, 'SVC_PORT_BASE', 8688, 1_024, 60_000) : null,
    metricsPort: integer(env, 'SVC_METRICS_PORT', 9090, 1_024, 60_000),
    engineBin: engine(env),
  };
}

/** For commands that check without a controller: its variables need not be there. */
export const readEngineBin = (env: Environment): string | null => engine(env);

/** For commands that ask a server: where it is, and the key of a service account. Null where it is not set. */
export const readClientConfig = (env: Environment): { url: string | null; apiKey: string | null } => ({
  url: env.HEADGATE_URL || null,
  apiKey: env.HEADGATE_API_KEY || null,
});

/** What a child process of ours may know of the environment. */
export function plainEnvironment(env: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR']) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** The first executable of this name on the path. */
export function onPath(env: Environment, name: string): string | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder !== '' && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}
