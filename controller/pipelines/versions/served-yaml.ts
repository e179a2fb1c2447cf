/**
 * Versions are stored as they were rendered, and older ones have secrets without quotes. They are served unchanged, so that an
 * upgrade restarts nothing, unless a value would arrive garbled; then the config is rendered again in today's form.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { escapeForVrl, expandSecrets, vrlReferences, withPlainVariables } from '../../secrets/index.ts';
import { renderYaml } from '../definition/render-yaml.ts';

const MAX_CACHED = 5_000;
/** Today's rendering by the hash of the stored text; null if it equals the stored text. */
const renderedToday = new Map<string, string | null>();

/** `values` holds the secrets that the config names, by variable. */
export function servedYaml(configYaml: string, values: ReadonlyMap<string, string>): string {
  if (values.size === 0) return configYaml;
  const key = createHash('sha256').update(configYaml).digest('base64');
  let today = renderedToday.get(key);
  if (today === undefined) {
    const rendered = renderYaml(parse(withPlainVariables(configYaml)) as Record<string, unknown>);
    today = rendered === configYaml ? null : rendered;
    if (renderedToday.size >= MAX_CACHED) renderedToday.clear();
    renderedToday.set(key, today);
  }
  return today === null || survivesExpansion(configYaml, today, values) ? configYaml : today;
}

/** Whether an engine that expands the text reads every value unchanged. */
function survivesExpansion(configYaml: string, today: string, values: ReadonlyMap<string, string>): boolean {
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
