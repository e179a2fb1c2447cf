/**
 * A YAML document tree to a plain value. Stricter than the library: duplicate keys, merge keys, custom tags,
 * `__proto__`, numbers that lose digits, characters that no database keeps and aliases that multiply are refused, each
 * with its place.
 */
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import type { YamlFault } from './documents.ts';
import { formatPosition, printable } from './position.ts';

/** Values of one document once its aliases are expanded. A long text counts as one more for each of these characters. */
const MAX_VALUES = 100_000;
const CHARACTERS_OF_ONE = 64;
const MAX_FINDINGS = 20;
/** Postgres keeps neither NUL nor half a surrogate pair; an escape can write both. */
const UNSTORABLE = /[\0\p{Cs}]/u;

const CORE_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

interface Anchored {
  value: unknown;
  weight: number;
}

/** Called with each value that is read. */
export interface ValueObserver {
  key?(name: string): void;
  text?(value: string): void;
}

interface State {
  text: string;
  findings: YamlFault[];
  anchors: Map<string, Anchored | 'open'>;
  values: number;
  observer: ValueObserver;
}

function report(
  state: State,
  node: { range?: readonly [number, number, number] | null },
  message: string,
  hint: string,
) {
  if (state.findings.length >= MAX_FINDINGS) return;
  state.findings.push({
    stage: 'parse',
    message: printable(message),
    hint,
    ...formatPosition(state.text, node.range?.[0] ?? 0),
  });
}

function count(state: State, node: Node, more: number): boolean {
  const before = state.values;
  state.values += more;
  if (state.values <= MAX_VALUES) return true;
  if (before <= MAX_VALUES) {
    const hint = 'Write fewer values; aliases count as often as they are used.';
    report(
      state,
      node,
      `the document holds more than ${MAX_VALUES} values once its aliases are expanded`,
      hint,
    );
  }
  return false;
}

const weightOf = (node: Node): number =>
  isScalar(node) && typeof node.value === 'string'
    ? 1 + Math.floor(node.value.length / CHARACTERS_OF_ONE)
    : 1;

function scalarValue(state: State, node: Scalar): unknown {
  const { value } = node;
  if (typeof value === 'string') {
    checkCharacters(state, node, value);
    state.observer.text?.(value);
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) {
      report(state, node, 'a number must be finite', 'Use a number, or put the text in quotes.');
    } else if (Number.isInteger(value) && !Number.isSafeInteger(value) && !/[.eE]/.test(node.source ?? '')) {
      report(state, node, 'this whole number is too large to be kept exactly', 'Put it in quotes.');
    }
  }
  return value;
}

function checkCharacters(state: State, node: Scalar, text: string): void {
  if (UNSTORABLE.test(text))
    report(state, node, 'a text holds a NUL or half a surrogate pair', 'Leave such characters out.');
}

function aliasValue(state: State, node: Alias): unknown {
  const target = state.anchors.get(node.source);
  if (target === undefined) {
    report(
      state,
      node,
      `there is no anchor &${node.source} before this alias`,
      'Define it further up in the same document.',
    );
    return null;
  }
  if (target === 'open') {
    report(
      state,
      node,
      `the alias *${node.source} stands inside of what it stands for`,
      'Write the value out.',
    );
    return null;
  }
  return count(state, node, target.weight) ? target.value : null;
}

function keyOf(state: State, key: unknown): string | null {
  if (isAlias(key)) {
    const value = aliasValue(state, key);
    if (typeof value === 'string') return value;
    report(state, key, 'a key must be text', 'Write the key out.');
    return null;
  }
  if (!isScalar(key)) {
    const node = key as { range?: [number, number, number] };
    report(state, node ?? {}, 'a key must be text', 'Write a plain key and a colon.');
    return null;
  }
  checkTag(state, key);
  if (key.anchor) state.anchors.set(key.anchor, { value: key.value, weight: weightOf(key) });
  if (key.value === null) {
    report(state, key, 'here is a value without a key', 'Write a key before the colon.');
    return null;
  }
  const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
  checkCharacters(state, key, name);
  if (name === '__proto__') {
    report(state, key, 'the key __proto__ is not accepted', 'Use another name.');
    return null;
  }
  if (name === '<<' && key.type === 'PLAIN') {
    report(
      state,
      key,
      'the merge key << is not part of YAML 1.2',
      'Write the fields out, or alias whole values.',
    );
    return null;
  }
  return name;
}

function checkTag(state: State, node: Node): void {
  const tag = 'tag' in node && typeof node.tag === 'string' ? node.tag : undefined;
  if (tag === undefined || CORE_TAGS.has(tag)) return;
  report(
    state,
    node,
    `the tag ${tag.slice(0, 60)} is not accepted`,
    'Remove the tag and write the plain value.',
  );
}

function convert(state: State, node: unknown): unknown {
  if (node === null || node === undefined) return null;
  if (isAlias(node)) return aliasValue(state, node);
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return null;
  const before = state.values;
  if (!count(state, node, weightOf(node))) return null;
  checkTag(state, node);
  const { anchor } = node;
  if (!anchor) return content(state, node);
  state.anchors.set(anchor, 'open');
  const value = content(state, node);
  state.anchors.set(anchor, { value, weight: state.values - before });
  return value;
}

function content(state: State, node: Node): unknown {
  if (isScalar(node)) return scalarValue(state, node);
  if (isSeq(node)) return node.items.map((item) => convert(state, item));
  const out: Record<string, unknown> = {};
  if (!isMap(node)) return out;
  for (const pair of node.items) {
    const key = keyOf(state, pair.key);
    const value = convert(state, pair.value);
    if (key === null) continue;
    if (Object.hasOwn(out, key)) {
      report(
        state,
        pair.key as Node,
        `the key ${key.slice(0, 100)} stands here twice`,
        'Keep one of the two.',
      );
      continue;
    }
    state.observer.key?.(key);
    out[key] = value;
  }
  return out;
}

export interface PlainDocument {
  value: unknown;
  findings: YamlFault[];
}

/** The value of a document, shared parts included once: treat it as read-only. */
export function plainValue(
  text: string,
  document: Document.Parsed,
  observer: ValueObserver = {},
): PlainDocument {
  const state: State = { text, findings: [], anchors: new Map(), values: 0, observer };
  const value = convert(state, document.contents);
  return { value, findings: state.findings };
}
