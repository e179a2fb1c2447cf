/** Configurations of Vector in YAML, JSON or TOML, as YAML. */
import { stringify } from 'yaml';

export type VectorFormat = 'yaml' | 'json' | 'toml';

/** By the ending of a file's name; null where it says nothing. */
export function formatOfName(name: string): VectorFormat | null {
  const ending = /\.(ya?ml|json|toml)$/i.exec(name)?.[1]?.toLowerCase();
  return ending === undefined ? null : ending === 'yml' ? 'yaml' : (ending as VectorFormat);
}

/** By what the text looks like: TOML has tables in brackets, or `key = value`, at the beginning of lines. */
export function formatOfText(text: string): VectorFormat {
  if (text.trimStart().startsWith('{')) return 'json';
  return /^\s*(?:\[{1,2}[\w."'-]+\]{1,2}|[\w."'-]+\s*=\s*\S)/m.test(text) &&
    !/^(?:sources|transforms|sinks)\s*:/m.test(text)
    ? 'toml'
    : 'yaml';
}

/** JSON is YAML already. @throws an error with the place, for a text that is no TOML */
export async function toYaml(text: string, format: VectorFormat): Promise<string> {
  if (format !== 'toml') return text;
  const { parse } = await import('smol-toml');
  return stringify(parse(text), { lineWidth: 0, aliasDuplicateObjects: false });
}
