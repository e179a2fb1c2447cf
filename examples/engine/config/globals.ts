import { hostname } from 'node:os';
import type { Globals } from '../component.ts';
import { ConfigError, collectErrors } from './config-error.ts';
import { DEFAULT_API_ADDRESS, DEFAULT_DATA_DIR } from './merge.ts';
import { OptionReader, type Table } from './option-reader.ts';

export interface Address {
  host: string;
  port: number;
}

export interface Settings {
  globals: Globals;
  api: Address | undefined;
  relaxedWildcards: boolean;
  healthchecks: boolean;
  /** Whether an unhealthy sink keeps the engine from starting. */
  requireHealthy: boolean;
}

/** Reads the top-level settings. Those that change nothing here (proxy, acknowledgements) are only typed. */
export function readSettings(global: Table, env: Record<string, string | undefined>): Settings {
  const settings: Settings = {
    globals: {
      dataDir: DEFAULT_DATA_DIR,
      hostname: env.VECTOR_HOSTNAME ?? hostname(),
      logSchema: {
        message: 'message',
        timestamp: 'timestamp',
        host: 'host',
        sourceType: 'source_type',
        metadata: 'metadata',
      },
    },
    api: undefined,
    relaxedWildcards: false,
    healthchecks: true,
    requireHealthy: false,
  };
  const top = new OptionReader(global, 'config');
  collectErrors([
    () => {
      settings.globals.dataDir = top.string('data_dir') ?? DEFAULT_DATA_DIR;
      settings.relaxedWildcards =
        top.oneOf('wildcard_matching', ['strict', 'relaxed'], 'strict') === 'relaxed';
      top.string('timezone');
      top.number('expire_metrics_secs', 300, Number.NEGATIVE_INFINITY);
    },
    () => {
      const api = new OptionReader(global.api ?? {}, 'api');
      const enabled = api.boolean('enabled', false);
      const address = parseAddress(api.string('address') ?? DEFAULT_API_ADDRESS, 'api');
      api.finish();
      settings.api = enabled ? address : undefined;
    },
    () => {
      const healthchecks = new OptionReader(global.healthchecks ?? {}, 'healthchecks');
      settings.healthchecks = healthchecks.boolean('enabled', true);
      settings.requireHealthy = healthchecks.boolean('require_healthy', false);
      healthchecks.finish();
    },
    () => {
      const schema = new OptionReader(global.schema ?? {}, 'schema');
      if (schema.boolean('log_namespace', false))
        schema.fail('`log_namespace` is not supported by this engine');
      schema.boolean('enabled', false);
      schema.boolean('validation', false);
      schema.finish();
    },
    () => {
      const keys = new OptionReader(global.log_schema ?? {}, 'log_schema');
      const names = settings.globals.logSchema;
      names.message = fieldName(keys, 'message_key', names.message);
      names.timestamp = fieldName(keys, 'timestamp_key', names.timestamp);
      names.host = fieldName(keys, 'host_key', names.host);
      names.sourceType = fieldName(keys, 'source_type_key', names.sourceType);
      names.metadata = fieldName(keys, 'metadata_key', names.metadata);
      keys.finish();
    },
  ]);
  return settings;
}

function fieldName(keys: OptionReader, option: string, fallback: string): string {
  const name = (keys.string(option) ?? fallback).replace(/^\./, '');
  if (!/^\w+$/.test(name)) keys.fail(`\`${option}\` must name one top-level field`);
  return name;
}

/** Reads `ip:port` or `[ip6]:port`; host names are refused, as by Vector. */
export function parseAddress(text: string, path: string): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|(\d{1,3}(?:\.\d{1,3}){3})):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) {
    throw new ConfigError(`invalid socket address syntax, expected IP:PORT\nin \`${path}\``);
  }
  return { host: match[1] ?? match[2]!, port };
}

export function addressText(address: Address): string {
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
