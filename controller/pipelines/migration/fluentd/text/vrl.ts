/** Writes values as VRL and as options of components. A `$` is doubled, since the engine expands `$NAME` in the whole file. */

export const escapeDollar = (text: string): string => text.replaceAll('$', '$$$$');

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\\0',
  $: '$$',
};

/** The inside of a string in double quotes. `{{` would begin a template. */
export const stringContent = (text: string): string =>
  text.replace(/[\\"\n\r\t\0$]/g, (char) => ESCAPES[char] ?? char).replaceAll('{{', '\\{{');

export const vrlString = (text: string): string => `"${stringContent(text)}"`;

export function vrlValue(value: unknown): string {
  if (typeof value === 'string') return vrlString(value);
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(vrlValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return 'null';
  const entries = Object.entries(value).map(([key, item]) => `${vrlString(key)}: ${vrlValue(item)}`);
  return `{${entries.join(', ')}}`;
}

/** `source` is in the syntax of Rust; see `regexp.ts`. */
export const vrlRegexp = (source: string): string => `r'${escapeDollar(source).replace(/\\?'/g, "\\'")}'`;

const PLAIN_FIELD = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `.a."b c"`, or `record.a` with a variable as base. */
export const vrlPath = (keys: readonly (string | number)[], base = ''): string =>
  `${base}${keys
    .map((key) =>
      typeof key === 'number' ? `[${key}]` : PLAIN_FIELD.test(key) ? `.${key}` : `.${quotedField(key)}`,
    )
    .join('')}`;

/** A quoted field knows two escapes only. */
const quotedField = (key: string): string =>
  `"${escapeDollar(key.replace(/[\\"]/g, '\\$&').replace(/[\n\r]/g, ' '))}"`;

/** A path of Fluentd's record accessor: `key`, `$.a.b`, `$['a']['b'][0]`. */
export function accessorPath(text: string): (string | number)[] {
  if (text.startsWith('$.')) return dottedPath(text.slice(2));
  if (!text.startsWith('$[')) return [text];
  const keys: (string | number)[] = [];
  for (const match of text.matchAll(/\[(?:'([^']*)'|"([^"]*)"|(-?\d{1,9}))\]/g)) {
    keys.push(match[3] === undefined ? (match[1] ?? match[2] ?? '') : Number(match[3]));
  }
  return keys.length > 0 ? keys : [text];
}

/** `a.b[0]`, as the accessor reads what follows `$.`. */
function dottedPath(text: string): (string | number)[] {
  return text.split('.').flatMap((part) => {
    const [name = '', ...indexes] = part.split('[');
    return [name, ...indexes.map((index) => bracketed(index.replace(/\]$/, '')))].filter((key) => key !== '');
  });
}

function bracketed(text: string): string | number {
  return /^-?\d{1,9}$/.test(text) ? Number(text) : text.replace(/^['"]|['"]$/g, '');
}

/** A name for a component: letters, digits and `_`, at most 60 characters. */
export const keyText = (text: string): string =>
  text
    .slice(0, 200)
    .replace(/[^A-Za-z0-9_]/g, '_')
    .replace(/_{2,}/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 60)
    .replace(/_$/, '');
