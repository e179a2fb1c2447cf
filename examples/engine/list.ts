import { SINKS } from './sinks/index.ts';
import { SOURCES } from './sources/index.ts';
import { TRANSFORMS } from './transforms/index.ts';

/** What `list` prints: the types of components that this engine has, in Vector's two forms. */
export function listComponents(format: 'text' | 'json'): string {
  const lists = {
    sources: Object.keys(SOURCES).sort(),
    transforms: Object.keys(TRANSFORMS).sort(),
    sinks: Object.keys(SINKS).sort(),
    enrichment_tables: [] as string[],
  };
  if (format === 'json') return `${JSON.stringify(lists)}\n`;
  const titles = {
    sources: 'Sources',
    transforms: 'Transforms',
    sinks: 'Sinks',
    enrichment_tables: 'Enrichment tables',
  };
  return Object.entries(lists)
    .map(
      ([key, names]) =>
        `${titles[key as keyof typeof titles]}:\n${names.map((name) => `- ${name}\n`).join('')}`,
    )
    .join('\n');
}
