import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from './config-error.ts';
import { DEFAULT_API_ADDRESS, DEFAULT_DATA_DIR, GLOBAL_LACKING, GLOBAL_OPTIONS } from './global-options.ts';
import { unavailable } from './refusals.ts';
import { isTable, type Table } from './table.ts';

export const COMPONENT_KINDS = ['sources', 'transforms', 'sinks'] as const;
const SINGULAR = { sources: 'source', transforms: 'transform', sinks: 'sink' } as const;

const TOP_LEVEL = [...COMPONENT_KINDS, ...Object.keys(GLOBAL_OPTIONS).sort()];

/** Several parsed files joined into one; the values of components are still unchecked. */
export interface MergedConfig {
  sources: Table;
  transforms: Table;
  sinks: Table;
  /** Every other top-level key. */
  global: Table;
}

/**
 * Joins parsed files by Vector's rules: components are a union, most settings may repeat only if equal,
 * `data_dir` and `api.address` yield where they have their default.
 * Throws ConfigError with Vector's conflict texts.
 */
export function mergeConfigs(files: readonly Table[]): MergedConfig {
  const merged: MergedConfig = { sources: {}, transforms: {}, sinks: {}, global: {} };
  const errors: string[] = [];

  for (const file of files) {
    for (const [key, value] of Object.entries(file)) {
      if (GLOBAL_LACKING.includes(key)) {
        errors.push(...unavailable(key, 'config').messages);
        continue;
      }
      if (!TOP_LEVEL.some((known) => known === key)) {
        errors.push(`unknown field \`${key}\``);
        continue;
      }
      if (value === null) continue;
      const kind = COMPONENT_KINDS.find((known) => known === key);
      if (kind) errors.push(...addComponents(merged[kind], value, kind));
      else errors.push(...addGlobal(merged.global, key, value));
    }
  }
  if (errors.length > 0) throw new ConfigError(errors);
  return merged;
}

function addComponents(into: Table, value: unknown, kind: (typeof COMPONENT_KINDS)[number]): string[] {
  if (!isTable(value)) return [`invalid type: expected a map of components\nin \`${kind}\``];
  const errors: string[] = [];
  for (const [id, options] of Object.entries(value)) {
    if (Object.hasOwn(into, id)) errors.push(`duplicate ${SINGULAR[kind]} id found: ${id}`);
    else into[id] = options;
  }
  return errors;
}

function addGlobal(into: Table, key: string, value: unknown): string[] {
  const present = into[key];
  if (present === undefined) {
    into[key] = value;
    return [];
  }
  switch (key) {
    case 'data_dir': {
      if (isDefaultDataDir(value) || present === value) return [];
      if (!isDefaultDataDir(present)) return [`conflicting values for 'data_dir' found`];
      into[key] = value;
      return [];
    }
    case 'api':
      return mergeApi(into, present, value);
    case 'healthchecks':
      into[key] = mergeHealthchecks(present, value);
      return [];
    case 'log_schema':
    case 'proxy':
      return mergeByKey(into, key, present, value);
    case 'tests':
      return mergeTests(into, present, value);
    default:
      return isDeepStrictEqual(present, value) ? [] : [`conflicting values for '${key}' found`];
  }
}

function isDefaultDataDir(value: unknown): boolean {
  return value === DEFAULT_DATA_DIR || value === DEFAULT_DATA_DIR.slice(0, -1);
}

function mergeApi(into: Table, present: unknown, value: unknown): string[] {
  if (!isTable(present) || !isTable(value)) return [`invalid type: expected a map\nin \`api\``];
  const own = present.address ?? DEFAULT_API_ADDRESS;
  const other = value.address ?? DEFAULT_API_ADDRESS;
  if (own !== other && own !== DEFAULT_API_ADDRESS && other !== DEFAULT_API_ADDRESS) {
    return [`Conflicting \`api\` address: ${own}, ${other} .`];
  }
  into.api = {
    ...present,
    ...value,
    enabled: present.enabled === true || value.enabled === true,
    address: own === DEFAULT_API_ADDRESS ? other : own,
  };
  return [];
}

function mergeByKey(into: Table, key: string, present: unknown, value: unknown): string[] {
  if (!isTable(present) || !isTable(value)) return [`invalid type: expected a map\nin \`${key}\``];
  into[key] = { ...value, ...present };
  return Object.keys(value)
    .filter((name) => present[name] !== undefined && !isDeepStrictEqual(present[name], value[name]))
    .sort()
    .map((name) => `conflicting values for '${key}.${name}' found`);
}

function mergeTests(into: Table, present: unknown, value: unknown): string[] {
  const [own, other] = [present, value].map((list) => (Array.isArray(list) ? (list as unknown[]) : [])) as [
    unknown[],
    unknown[],
  ];
  const nameOf = (test: unknown) => (isTable(test) ? test.name : undefined);
  const names = new Set(own.map(nameOf));
  into.tests = [...own, ...other];
  return other
    .filter((test) => names.has(nameOf(test)))
    .map((test) => `duplicate test name found: ${nameOf(test)}`);
}

function mergeHealthchecks(present: unknown, value: unknown): Table {
  const [own, other] = [present, value].map((table) => (isTable(table) ? table : {})) as [Table, Table];
  return {
    ...own,
    ...other,
    enabled: own.enabled !== false && other.enabled !== false,
    require_healthy: own.require_healthy === true || other.require_healthy === true,
  };
}
