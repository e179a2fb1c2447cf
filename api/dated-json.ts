/**
 * What procedures answer, in superjson's form: JSON, and beside it which texts are dates. By hand, because superjson
 * refuses every object that has a key like `constructor`, and manifests and labels may have one.
 */
import type { SuperJSONResult } from 'superjson';

export function datedJson(value: unknown): SuperJSONResult {
  const values: Record<string, ['Date']> = {};
  noteDates(value, '', values);
  const json = value as SuperJSONResult['json'];
  return Object.keys(values).length === 0 ? { json } : { json, meta: { values, v: 1 } };
}

function noteDates(value: unknown, path: string, found: Record<string, ['Date']>): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Date) {
    found[path] = ['Date'];
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'object' || item === null) continue;
    const step = key.replaceAll('\\', '\\\\').replaceAll('.', '\\.');
    noteDates(item, path === '' ? step : `${path}.${step}`, found);
  }
}
