import { SINKS } from './sinks/index.ts';
import { SOURCES } from './sources/index.ts';
import { TRANSFORMS } from './transforms/index.ts';

/** The component types that this engine has, as text or as one line of JSON. */
export function listComponents(format: 'text' | 'json'): string {
  const lists = {
    sources: Object.keys(SOURCES).sort(),
    transforms: Object.keys(TRANSFORMS).sort(),
    sinks: Object.keys(SINKS).sort(),
    enrichment_tables: [],
  };
  if (format === 'json') return `${JSON.stringify(lists)}\n`;
  const section = (title: string, names: readonly string[]) =>
    [`${title}:`, ...names.map((name) => `- ${name}`), ''].join('\n');
  return [
    section('Sources', lists.sources),
    section('Transforms', lists.transforms),
    section('Sinks', lists.sinks),
    section('Enrichment tables', lists.enrichment_tables),
  ].join('\n');
}
