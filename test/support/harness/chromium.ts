import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** The system's Chromium; null where there is none. */
export function findChromium(): string | null {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']) {
    for (const name of NAMES) if (folder !== '' && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages live for seconds: code that V8 optimizes for them is rarely run.
  '--js-flags=--no-opt --no-maglev',
];
