/**
 * A YAML document tree to a plain value. Stricter than the library: duplicate keys, merge keys, custom tags,
 * `__proto__`, numbers that lose digits and aliases that multiply are refused, each with its place.
 */
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { place, printable } from '../../controller/platform/yaml/place.ts';
import { FILE_KEY } from './file-reference.ts';
import type { Finding } from './finding.ts';
import { hasPlaceholder } from './values.ts';

/** Values of one document once its aliases are expanded. */
const MAX_VALUES = 100_000;
const MAX_FINDINGS = 20;

const CORE_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

interface Anchored {
  value: unknown;
  weight: number;
}

interface State {
  text: string;
  findings: Finding[];
  anchors: Map<string, Anchored | 'open'>;
  values: number;
  hasFiles: boolean;
  hasPlaceholders: boolean;
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
    ...place(state.text, node.range?.[0] ?? 0),
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

function scalarValue(state: State, node: Scalar): unknown {
  const { value } = node;
  if (typeof value === 'string') {
    if (!state.hasPlaceholders && hasPlaceholder(value)) state.hasPlaceholders = true;
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) {
      report(state, node, 'a number must be finite', 'Use a number, or put the text in quotes.');
    } else if (Number.isInteger(value) && !Number.isSafeInteger(value) && !/[.eE]/.test(node.source ?? '')) {
      report(state, node, 'this whole number is too large to be kept exactly', 'Put it in quotes.');
    }
  }
  return value;
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
  if (key.anchor) state.anchors.set(key.anchor, { value: key.value, weight: 1 });
  if (key.value === null) {
    report(state, key, 'here is a value without a key', 'Write a key before the colon.');
    return null;
  }
  const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
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
  if (!count(state, node, 1)) return null;
  checkTag(state, node);
  const { anchor } = node;
  if (!anchor) return content(state, node);
  const before = state.values;
  state.anchors.set(anchor, 'open');
  const value = content(state, node);
  state.anchors.set(anchor, { value, weight: state.values - before + 1 });
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
    if (key === FILE_KEY) state.hasFiles = true;
    out[key] = value;
  }
  return out;
}

export interface PlainDocument {
  value: unknown;
  findings: Finding[];
  /** Whether any object in it is a `$file` reference, and any string holds a `${value.x}`. */
  hasFiles: boolean;
  hasPlaceholders: boolean;
}

/** The value of a document, shared parts included once: treat it as read-only. */
export function plainValue(text: string, document: Document.Parsed): PlainDocument {
  const state: State = {
    text,
    findings: [],
    anchors: new Map(),
    values: 0,
    hasFiles: false,
    hasPlaceholders: false,
  };
  const value = convert(state, document.contents);
  const { findings, hasFiles, hasPlaceholders } = state;
  return { value, findings, hasFiles, hasPlaceholders };
}
