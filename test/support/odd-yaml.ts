/** YAML as people type it: comments, blank lines, odd indentation, every style of value, CRLF, several documents. */
import fc from 'fast-check';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Choices that a text is made with, one after another. */
export interface Choices {
  take(below: number): number;
}

const KEYS = ['a', 'name', 'inputs', 'type', 'source', 'x-y', '1', 'a b', 'Zoë', 'inner', 'list'];
const key = fc.constantFrom(...KEYS);
const word = fc.constantFrom(
  '',
  'x',
  'yes',
  'null',
  '1.0',
  'a: b',
  '# no',
  ' lead',
  'trail ',
  "it's",
  '"q"',
  '- dash',
  '[x',
  'a, b',
  'é',
  '*star',
  '&and',
  '!bang',
  '%pct',
  '@at',
  '\ttab',
  '~',
  '012',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as it is typed
  '${SVC_SECRET_X}',
);
const lines = fc.constantFrom(
  'one\ntwo\n',
  'one\n\n  two\nthree\n',
  'no end\nhere',
  '.level = "x"\n# comment\nif true {\n\t.a = 1\n}\n',
  'a\n\n\n',
  '\nfirst',
  'end\n',
);
export const scalar: fc.Arbitrary<Json> = fc.oneof(
  word,
  word,
  lines,
  fc.integer({ min: -5, max: 5000 }),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(0.5, 1e21),
);

export const json: fc.Arbitrary<Json> = fc.letrec<{ node: Json; map: Json; list: Json }>((tie) => ({
  node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('map'), tie('list')),
  map: fc.dictionary(key, tie('node'), { maxKeys: 4, noNullPrototype: true }),
  list: fc.array(tie('node'), { maxLength: 4 }),
})).node;

export const document: fc.Arbitrary<{ [key: string]: Json }> = fc.dictionary(key, json, {
  minKeys: 1,
  maxKeys: 5,
  noNullPrototype: true,
});

export interface Typed {
  text: string;
  /** First and last line of each entry by its JSON pointer, from 0. */
  lines: Map<string, [number, number]>;
  /** Pointers of what stands inside of brackets or braces. */
  flow: Set<string>;
}

const pointerTo = (parent: string, segment: string | number) =>
  `${parent}/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
const PLAIN = /^[a-zA-Zé][a-zA-Z0-9é]*$/;
const RESERVED = /^(?:null|true|false|yes|no)$/i;

export function type(value: { [key: string]: Json }, choices: Choices): Typed {
  const out: string[] = [];
  const spans = new Map<string, [number, number]>();
  const flow = new Set<string>();
  const coin = (below: number) => choices.take(below) === 0;
  const remark = () => (coin(4) ? ' # why: [x] "y' : '');

  function noise(indent: number): void {
    if (coin(6)) out.push(`${' '.repeat(indent)}# a comment: { with }`);
    if (coin(7)) out.push(coin(3) ? '  ' : '');
  }

  function quoted(text: string): string {
    if (PLAIN.test(text) && !RESERVED.test(text) && coin(2)) return text;
    if (!/[\n\t\\]/.test(text) && coin(2)) return `'${text.replaceAll("'", "''")}'`;
    return JSON.stringify(text);
  }

  const anchors = new Map<string, string>();

  function plainScalar(one: Json): string {
    if (one === null) return coin(2) ? 'null' : '~';
    if (typeof one !== 'string') return String(one);
    const known = anchors.get(one);
    if (known !== undefined && coin(2)) return `*${known}`;
    if (!coin(6)) return quoted(one);
    const name = `a${anchors.size}`;
    anchors.set(one, name);
    return `&${name} ${quoted(one)}`;
  }

  function inline(one: Json, pointer: string): string {
    if (typeof one !== 'object' || one === null) return plainScalar(one);
    const blank = coin(2) ? ' ' : '';
    const entries = Array.isArray(one)
      ? one.map((item, index) => {
          flow.add(pointerTo(pointer, index));
          return inline(item, pointerTo(pointer, index));
        })
      : Object.entries(one).map(([name, item]) => {
          flow.add(pointerTo(pointer, name));
          return `${quoted(name)}: ${inline(item, pointerTo(pointer, name))}`;
        });
    const comma = coin(2) ? ', ' : ' , ';
    const body = entries.length === 0 ? '' : `${blank}${entries.join(comma)}${coin(5) ? ',' : ''}${blank}`;
    return Array.isArray(one) ? `[${body}]` : `{${body}}`;
  }

  /** Behind `key:` or `-`, whose line is the last one so far. `column` is where that began. */
  function put(one: Json, pointer: string, column: number, isItem: boolean): void {
    const append = (text: string): void => {
      out[out.length - 1] += text;
    };
    if (typeof one === 'string' && /^[^\s].*\n/s.test(one) && !/\n\n$/.test(one) && coin(2)) {
      const ends = one.endsWith('\n');
      const indent = column + 1 + choices.take(4);
      append(` |${ends ? '' : '-'}${remark()}`);
      for (const line of (ends ? one.slice(0, -1) : one).split('\n'))
        out.push(line === '' ? '' : ' '.repeat(indent) + line);
      if (coin(4)) out.push('');
      return;
    }
    if (one === null && coin(3)) {
      append(remark());
      return;
    }
    const isCollection = typeof one === 'object' && one !== null;
    if (!isCollection || Object.keys(one).length === 0 || coin(4)) {
      append(`${coin(5) ? '   ' : ' '}${inline(one, pointer)}${remark()}`);
      return;
    }
    const step = 1 + choices.take(4);
    const compact = isItem && coin(2);
    if (!compact) append(remark());
    const dashAtKey = Array.isArray(one) && !isItem && coin(2);
    const inner = compact ? column + 1 + step : dashAtKey ? column : column + step;
    const entries = Array.isArray(one)
      ? one.map((item, index) => [index, item] as const)
      : Object.entries(one);
    for (const [index, [name, item]] of entries.entries()) {
      const here = pointerTo(pointer, name);
      const head = Array.isArray(one) ? '-' : `${quoted(String(name))}:`;
      if (compact && index === 0) append(' '.repeat(step) + head);
      else {
        noise(inner);
        out.push(' '.repeat(inner) + head);
      }
      const first = out.length - 1;
      put(item, here, inner, Array.isArray(one));
      spans.set(here, [first, lastFilled(first)]);
    }
  }

  const lastFilled = (first: number): number => {
    let last = out.length - 1;
    while (last > first && out[last]?.trim() === '') last -= 1;
    return last;
  };

  for (const [name, item] of Object.entries(value)) {
    noise(0);
    out.push(`${quoted(name)}:`);
    const first = out.length - 1;
    put(item, pointerTo('', name), 0, false);
    spans.set(pointerTo('', name), [first, lastFilled(first)]);
  }
  noise(0);
  return { text: out.join('\n'), lines: spans, flow };
}

/** Choices of a list of numbers; 1 once they are used up, which is what is done mostly. */
export function choicesOf(numbers: readonly number[]): Choices {
  let at = 0;
  return {
    take(below) {
      const number = numbers[at] ?? 1;
      at += 1;
      return number % below;
    },
  };
}
