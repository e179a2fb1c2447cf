/** Where the controller listens, what it is reached by, where it keeps what it has, and its first administrator. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readDatabaseUrl } from '../database/database-url.ts';
import { LOG_LEVELS, type LogLevel } from '../platform/runtime/logger.ts';
import { ConfigError, type Environment, integer, type Variable } from './values.ts';

export interface ServerConfig {
  host: string;
  port: number;
  baseUrl: string;
  dataDir: string;
  /** Null starts the embedded Postgres. */
  databaseUrl: string | null;
  adminEmail: string;
  adminPassword: string | null;
  logLevel: LogLevel;
  /** Sign-in by identity providers, where a file says it. */
  oidcFile: { path: string; env: Environment } | null;
  enrollPerMinute: number;
  /** How long a push is kept for the report of what it did. */
  pushWaitSeconds: number;
  /** Folder of the agents that are served to nodes. */
  agentReleases: string;
}

export const SERVER_VARIABLES: readonly Variable[] = [
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
  { name: 'HEADGATE_ADMIN_EMAIL', default: 'admin@localhost', help: 'first administrator' },
  {
    name: 'HEADGATE_ADMIN_PASSWORD',
    default: '(generated)',
    help: 'its password, at least 8 characters and no common one; or HEADGATE_ADMIN_PASSWORD_FILE',
  },
  { name: 'HEADGATE_LOG_LEVEL', default: 'info', help: LOG_LEVELS.join(', ') },
  {
    name: 'HEADGATE_OIDC_FILE',
    default: '(none)',
    help: 'YAML file of identity providers, groups and access, in place of the settings; see docs/single-sign-on.md',
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
];

const AGENT_RELEASES = join(import.meta.dirname, '../../dist/agent-release');

export function readServerConfig(env: Environment): ServerConfig {
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
    adminEmail: env.HEADGATE_ADMIN_EMAIL || 'admin@localhost',
    adminPassword,
    logLevel: level,
    // It names the variables that hold its secrets.
    oidcFile: env.HEADGATE_OIDC_FILE ? { path: resolve(env.HEADGATE_OIDC_FILE), env } : null,
    enrollPerMinute: integer(env, 'HEADGATE_ENROLL_PER_MINUTE', 10, 1, 1_000_000),
    pushWaitSeconds: integer(env, 'HEADGATE_PUSH_WAIT_SECONDS', 3, 1, 60),
    agentReleases: resolve(env.HEADGATE_AGENT_RELEASES || AGENT_RELEASES),
  };
}

const isLogLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text);

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

function passwordOf(env: Environment): string | null {
  const file = env.HEADGATE_ADMIN_PASSWORD_FILE;
  if (!file) return env.HEADGATE_ADMIN_PASSWORD || null;
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    throw new ConfigError(`HEADGATE_ADMIN_PASSWORD_FILE: ${file} cannot be read`);
  }
}
