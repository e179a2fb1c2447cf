import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** For `sh`, whatever is in the text. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The script that installs an agent from the controller at this address. */
export function installScript(baseUrl: string): string {
  const template = readFileSync(join(import.meta.dirname, 'install.sh'), 'utf8');
  return template.replace(/^BASE_URL=.*$/m, () => `BASE_URL=${quoted(baseUrl)}`);
}
