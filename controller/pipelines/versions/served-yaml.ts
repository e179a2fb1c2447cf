/**
 * Versions are stored as they were rendered, and older ones have secrets without quotes. They are served as they are, so
 * that an upgrade restarts nothing, until a value would not arrive so: then in the form of today.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { escapeForVrl, expandSecrets, vrlReferences, withPlainVariables } from '../../secrets/index.ts';
import { renderYaml } from '../definition/render-yaml.ts';

const CACHED = 5_000;
/** By the hash of a stored text, the same rendered today; null where that is the stored one. */
const renderedToday = new Map<string, string | null>();

/** `values` by variable, of the secrets that the config names. */
export function servedYaml(configYaml: string, values: ReadonlyMap<string, string>): string {
  if (values.size === 0) return configYaml;
  const key = createHash('sha256').update(configYaml).digest('base64');
  let today = renderedToday.get(key);
  if (today === undefined) {
    const rendered = renderYaml(parse(withPlainVariables(configYaml)) as Record<string, unknown>);
    today = rendered === configYaml ? null : rendered;
    if (renderedToday.size >= CACHED) renderedToday.clear();
    renderedToday.set(key, today);
  }
  return today === null || arrives(configYaml, today, values) ? configYaml : today;
}

/** Whether an engine that expands the text reads each value as it is. */
function arrives(configYaml: string, today: string, values: ReadonlyMap<string, string>): boolean {
  for (const variable of vrlReferences(today)) {
    const value = values.get(variable);
    if (value !== undefined && escapeForVrl(value) !== value) return false;
  }
  if ([...values.values()].some((value) => /[\r\n]/.test(value))) return false;
  try {
    const read: unknown = parse(expandSecrets(configYaml, values));
    return isDeepStrictEqual(read, expanded(parse(configYaml), values));
  } catch {
    return false;
  }
}

function expanded(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return expandSecrets(value, values);
  if (Array.isArray(value)) return value.map((item) => expanded(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expanded(item, values)]));
}
