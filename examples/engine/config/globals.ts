import { hostname } from 'node:os';
import type { Globals } from '../component.ts';
import type { UnitTest } from '../unit-tests/definition.ts';
import type { Address } from './address.ts';
import { collectErrors } from './config-error.ts';
import { API, DEFAULT_DATA_DIR, GLOBAL_OPTIONS, HEALTHCHECKS, LOG_SCHEMA, SCHEMA } from './global-options.ts';
import { readOptions } from './options.ts';
import type { Table } from './table.ts';

export interface Settings {
  globals: Globals;
  api: Address | undefined;
  relaxedWildcards: boolean;
  healthchecks: boolean;
  /** Whether an unhealthy sink keeps the engine from starting. */
  requireHealthy: boolean;
  tests: readonly UnitTest[];
}

/** Reads the settings at the top, and throws ConfigError with all that is wrong in them. */
export function readSettings(global: Table, env: Record<string, string | undefined>): Settings {
  const settings: Settings = {
    globals: {
      dataDir: DEFAULT_DATA_DIR,
      timezone: 'local',
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
    tests: [],
  };
  const { api, healthchecks, schema, log_schema, ...plain } = GLOBAL_OPTIONS;
  const { api: _api, healthchecks: _healthchecks, schema: _schema, log_schema: _keys, ...rest } = global;
  collectErrors([
    () => {
      const read = readOptions(rest, 'config', plain);
      settings.globals.dataDir = read.data_dir;
      settings.globals.timezone = read.timezone;
      settings.relaxedWildcards = read.wildcard_matching === 'relaxed';
      settings.tests = read.tests;
    },
    () => {
      const read = readOptions(global.api ?? {}, 'api', API);
      settings.api = read.enabled ? read.address : undefined;
    },
    () => {
      const read = readOptions(global.healthchecks ?? {}, 'healthchecks', HEALTHCHECKS, {
        ignoresUnknown: true,
      });
      settings.healthchecks = read.enabled;
      settings.requireHealthy = read.require_healthy;
    },
    () => {
      readOptions(global.schema ?? {}, 'schema', SCHEMA);
    },
    () => {
      const read = readOptions(global.log_schema ?? {}, 'log_schema', LOG_SCHEMA, { ignoresUnknown: true });
      settings.globals.logSchema = {
        message: read.message_key,
        timestamp: read.timestamp_key,
        host: read.host_key,
        sourceType: read.source_type_key,
        metadata: read.metadata_key,
      };
    },
  ]);
  return settings;
}
