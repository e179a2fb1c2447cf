/** The files that an archive may hold. Any other name is refused, so that none leads out of a folder. */
import { HEADER_FILE, MANIFEST_FILE, SIGNATURE_FILE } from './manifest.ts';

const numbered = (folder: string, part: number, ending: string): string =>
  `${folder}/${String(part).padStart(6, '0')}.${ending}`;

export const tableFile = (table: string, part: number): string => numbered(`tables/${table}`, part, 'ndjson');
export const jobsFile = (part: number): string => numbered('jobs', part, 'ndjson');
export const bundleFile = (part: number): string => numbered('repository', part, 'bundle');

export type EntryKind =
  | { kind: 'header' | 'manifest' | 'signature' | 'jobs' | 'bundle' }
  | { kind: 'rows'; table: string };

/** Null for a name that is none of them. */
export function readEntryName(name: string): EntryKind | null {
  if (name === HEADER_FILE) return { kind: 'header' };
  if (name === MANIFEST_FILE) return { kind: 'manifest' };
  if (name === SIGNATURE_FILE) return { kind: 'signature' };
  if (/^jobs\/\d{6}\.ndjson$/.test(name)) return { kind: 'jobs' };
  if (/^repository\/\d{6}\.bundle$/.test(name)) return { kind: 'bundle' };
  const [, table] = /^tables\/([a-z_][a-z0-9_]{0,62})\/\d{6}\.ndjson$/.exec(name) ?? [];
  return table === undefined ? null : { kind: 'rows', table };
}
