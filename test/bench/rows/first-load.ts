/** What a browser loads before the first page of the UI can run. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../result.ts';

const FOLDER = join(import.meta.dirname, '../../../dist/web');
const GOAL_KB = 250;

/** The scripts that index.html names, the entry and its preloads, as they are sent: brotli, and gzip for old browsers. */
export async function firstLoad(): Promise<Result[]> {
  const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
  const scripts = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path ?? '');
  if (scripts.length === 0) throw new Error('index.html names no script; run: make build');
  const kilobytes = (ending: string) =>
    scripts
      .map((path) => join(FOLDER, path + ending))
      .reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : Number.NaN), 0) / 1024;
  const brotli = kilobytes('.br');
  return [
    {
      what: `web UI, first-load scripts (${scripts.length} files)`,
      goal: `≤ ${GOAL_KB} KB compressed`,
      measured: `${brotli.toFixed(0)} KB brotli, ${kilobytes('.gz').toFixed(0)} KB gzip`,
      ok: brotli <= GOAL_KB,
    },
  ];
}
