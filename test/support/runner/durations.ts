/** Seconds that each test file took when durations were recorded last: `test/durations.json`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const PATH = join(ROOT, 'test/durations.json');

type Durations = Record<string, number>;

export const readDurations = (): Durations =>
  existsSync(PATH) ? (JSON.parse(readFileSync(PATH, 'utf8')) as Durations) : {};

/** The longest first, so that none is left alone at the end; a file without a duration may be the longest of all. */
export function longestFirst(files: readonly string[], durations: Durations): string[] {
  const secondsOf = (file: string) => durations[file] ?? Number.POSITIVE_INFINITY;
  return files.toSorted((a, b) => secondsOf(b) - secondsOf(a) || a.localeCompare(b));
}

/** Keeps those of files that did not run this time and still exist. */
export function recordDurations(measured: ReadonlyMap<string, number>): void {
  const kept = Object.entries(readDurations()).filter(([file]) => existsSync(join(ROOT, file)));
  const all = new Map([...kept, ...measured]);
  const rounded = [...all]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, s]) => [file, Math.round(s * 10) / 10]);
  writeFileSync(PATH, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}
