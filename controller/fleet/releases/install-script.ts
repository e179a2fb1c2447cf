import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Quotes any text for `sh`. */
const quoteForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Renders the script that installs an agent from the controller at this address. */
export function installScript(baseUrl: string): string {
  const template = readFileSync(join(import.meta.dirname, 'install.sh'), 'utf8');
  return template.replace(/^BASE_URL=.*$/m, () => `BASE_URL=${quoteForShell(baseUrl)}`);
}
