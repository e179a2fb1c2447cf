import type { KeyObject } from 'node:crypto';
import { parseDuration } from './duration.ts';
import { LIMITS } from './limits.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import { readPublicKey } from './update/verify.ts';

export interface AgentConfig {
  /** Without a trailing slash. */
  url: string;
  /** The enrollment token; unused once a node token is on disk. */
  token: string | undefined;
  dataDir: string;
  engineBin: string;
  pollIntervalMs: number;
  logFlushIntervalMs: number;
  logLevel: LogLevel;
  labels: Record<string, string>;
  /** 0 turns the endpoint off. */
  metricsPort: number;
  metricsHost: string;
  portBase: number;
  /** Updates must be signed by it; undefined asks for no signature. */
  updateKey: KeyObject | undefined;
  /** Updates to a lower version are accepted. */
  allowDowngrade: boolean;
}

/** A setting that stops the start. The message is the whole of what the user sees, so it says what to do. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment once. Throws ConfigError at the first wrong value. */
export function readConfig(env: Environment): AgentConfig {
  return {
    url: readUrl(env.SVC_URL),
    token: env.SVC_TOKEN?.trim() || undefined,
    dataDir: readDataDir(env.SVC_DATA_DIR),
    engineBin: env.SVC_ENGINE_BIN || 'vector',
    pollIntervalMs: readDuration(env, 'SVC_POLL_INTERVAL', LIMITS.pollIntervalMs),
    logFlushIntervalMs: readDuration(env, 'SVC_LOG_FLUSH_INTERVAL', 2_000),
    logLevel: readLogLevel(env.SVC_LOG_LEVEL),
    labels: { ...readLabels(env, 'SVC_LABELS'), ...readLabels(env, 'SVC_NODE_LABELS') },
    metricsPort: readPort(env, 'SVC_METRICS_PORT', 9090, 0),
    metricsHost: env.SVC_METRICS_HOST || '0.0.0.0',
    portBase: readPort(env, 'SVC_PORT_BASE', LIMITS.firstPort, 1),
    updateKey: readUpdateKey(env.SVC_UPDATE_PUBLIC_KEY),
    allowDowngrade: readFlag(env, 'SVC_ALLOW_DOWNGRADE'),
  };
}

function readUrl(text: string | undefined): string {
  if (!text?.trim()) throw new ConfigError('config error: SVC_URL is required');
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new ConfigError('config error: SVC_URL is not a URL: use the form https://headgate.example.com');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ConfigError('config error: SVC_URL must begin with http:// or https://');
  }
  if (url.username || url.password) {
    throw new ConfigError('config error: SVC_URL must not hold a user name or password: use SVC_TOKEN');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The engine reads `,` in a config path as a separator and `*?[]` as a glob; a NUL ends a path early. */
function readDataDir(text: string | undefined): string {
  const path = text || '/var/lib/svc-agent';
  if (/[,*?[\]\0]/.test(path)) {
    throw new ConfigError('config error: SVC_DATA_DIR must not contain any of , * ? [ ]');
  }
  return path;
}

function readDuration(env: Environment, name: string, fallback: number): number {
  const text = env[name]?.trim();
  if (!text) return fallback;
  const ms = parseDuration(text);
  if (ms === undefined || ms < 100 || ms > 86_400_000) {
    throw new ConfigError(`config error: ${name} must be a duration such as 10s or 1m30s, from 100ms to 24h`);
  }
  return ms;
}

function readLogLevel(text: string | undefined): LogLevel {
  const wanted = text?.trim().toLowerCase() || 'info';
  const level = LOG_LEVELS.find((name) => name === wanted);
  if (!level) throw new ConfigError(`config error: SVC_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

function readUpdateKey(text: string | undefined): KeyObject | undefined {
  if (!text?.trim()) return undefined;
  const key = readPublicKey(text);
  if (key) return key;
  throw new ConfigError(
    'config error: SVC_UPDATE_PUBLIC_KEY must be an Ed25519 public key: its 32 bytes in base64, or PEM',
  );
}

function readFlag(env: Environment, name: string): boolean {
  const text = env[name]?.trim().toLowerCase();
  if (!text || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true') return true;
  throw new ConfigError(`config error: ${name} must be 1 or 0`);
}

function readPort(env: Environment, name: string, fallback: number, lowest: number): number {
  const text = env[name]?.trim();
  if (!text) return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port >= lowest && port <= 65_535)) {
    throw new ConfigError(`config error: ${name} must be a port from ${lowest} to 65535`);
  }
  return port;
}

function readLabels(env: Environment, name: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const { pairs, key: keyChars, value: valueChars } = LIMITS.labels;
  for (const part of (env[name] ?? '').split(',')) {
    if (!part.trim()) continue;
    const cut = part.indexOf('=');
    const key = part.slice(0, cut).trim();
    const value = part.slice(cut + 1).trim();
    if (cut < 1 || key === '' || key.length > keyChars || value.length > valueChars) {
      throw new ConfigError(
        `config error: ${name} must be comma-separated key=value pairs (key up to ${keyChars}, value up to ${valueChars} characters)`,
      );
    }
    labels[key] = value;
  }
  if (Object.keys(labels).length > pairs) {
    throw new ConfigError(`config error: ${name} holds more than ${pairs} labels`);
  }
  return labels;
}
