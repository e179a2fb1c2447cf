/**
 * Renders the engine's YAML. The engine replaces placeholders in the text before it parses it. A string with a secret is
 * therefore written in double quotes on one line, where every value can be escaped, and a VRL program as a block, where only
 * VRL's own escapes apply.
 */
import { Scalar, stringify } from 'yaml';
import { secretReferences } from '../../secrets/index.ts';
import { isVrl } from './vrl-options.ts';
import { escapeSecretsInVrl } from './vrl-placeholders.ts';

const SECTIONS: ReadonlySet<string> = new Set(['sources', 'transforms', 'sinks']);

const OPTIONS = { lineWidth: 0, aliasDuplicateObjects: false };

export function renderYaml(config: Record<string, unknown>): string {
  if (!JSON.stringify(config).includes('SVC_SECRET_')) return stringify(config, OPTIONS);
  const quoted = Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      name,
      SECTIONS.has(name)
        ? components(value as Record<string, Record<string, unknown>>)
        : quote('', [], value),
    ]),
  );
  return stringify(quoted, {
    ...OPTIONS,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}

const components = (section: Record<string, Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(section).map(([key, component]) => [key, quote(String(component.type), [], component)]),
  );

function quote(type: string, path: readonly string[], value: unknown, parent?: unknown): unknown {
  if (typeof value === 'string') return quoteText(value, isVrl(type, path, parent));
  if (Array.isArray(value))
    return value.map((item, index) => quote(type, [...path, `${index}`], item, value));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, quote(type, [...path, key], item, value)]),
  );
}

function quoteText(text: string, vrl: boolean): string | Scalar<string> {
  if (!text.includes('SVC_SECRET_') || secretReferences(text).length === 0) return text;
  // A block cannot end with a line of blanks; VRL ignores that line.
  const scalar = new Scalar(vrl ? escapeSecretsInVrl(text.replace(/\n[\t ]+$/, '\n')) : text);
  scalar.type = vrl ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
  return scalar;
}
