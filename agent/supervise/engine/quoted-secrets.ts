/**
 * The engine puts the values of variables into the text of a config before it parses it. In a YAML string in double quotes
 * any value can stand once it is escaped, so there the config names a second variable with the escaped value; the first
 * keeps the value as it is, for programs that read their environment.
 */
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import { SECRET_VARIABLE } from '../../limits.ts';

/** No variable of a secret has two underscores in a row. */
const QUOTED_FORM = '__QUOTED';

export interface QuotedSecrets {
  configYaml: string;
  /** Beside the secrets themselves. */
  variables: Record<string, string>;
}

/** Nothing but placeholders in strings in double quotes is changed, and of these only what needs to be. */
export function quoteSecrets({
  configYaml,
  secrets,
}: Pick<PipelineEntry, 'configYaml' | 'secrets'>): QuotedSecrets {
  const variables: Record<string, string> = {};
  const escaped = new Map<string, string>();
  for (const [name, value] of Object.entries(secrets)) {
    const text = escapeForYaml(value);
    if (text !== value && SECRET_VARIABLE.test(name) && !value.includes('\0')) escaped.set(name, text);
  }
  if (escaped.size === 0) return { configYaml, variables };
  const replaced = (quoted: string): string =>
    quoted.replace(PLACEHOLDER, (written, braced?: string, rest = '', bare?: string) => {
      const name = braced ?? bare ?? '';
      const value = escaped.get(name);
      if (value === undefined) return written;
      const variable = `${name}${QUOTED_FORM}`;
      variables[variable] = value;
      return `\${${variable}${rest}}`;
    });
  return { configYaml: mapQuoted(configYaml, replaced), variables };
}

/** `$$` and placeholders, as the engine finds them. */
const PLACEHOLDER = /\$\$|\$\{([\w.]+)((?::?[-?])[^}]*)?\}|\$([\w.]+)/g;

/** What ends the string, begins an escape, or may not stand in YAML, or not without being changed. */
const SPECIAL = /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

export const escapeForYaml = (value: string): string =>
  value.replace(
    SPECIAL,
    (found) => ESCAPES[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Dashes of a list; a key; what follows, which on such a line is a whole value. */
const LINE =
  /^( *(?:- +)*)((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#&*!|>%@`{}[\],?:-](?:[^:#]|:(?! )|(?<! )#)*):(?: +|$))?(.*)$/;
const QUOTED = /^"(?:[^"\\]|\\.)*"$/;
const BLOCK = /^[|>][1-9+-]{0,2}$/;

/** The YAML with what `change` makes of each string in double quotes that is the whole value on its line. */
function mapQuoted(yaml: string, change: (quoted: string) => string): string {
  /** Column of what a block belongs to: deeper lines are its text. */
  let blockAt: number | null = null;
  return yaml
    .split('\n')
    .map((line) => {
      const [, before = '', key = '', value = ''] = LINE.exec(line) ?? [];
      if (blockAt !== null) {
        if (line.trim() === '' || line.length - line.trimStart().length > blockAt) return line;
        blockAt = null;
      }
      if (BLOCK.test(value)) blockAt = key === '' ? before.lastIndexOf('-') : before.length;
      return QUOTED.test(value) ? `${before}${key}${change(value)}` : line;
    })
    .join('\n');
}
