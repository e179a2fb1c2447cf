/** From a JSON pointer back to line and column. The text is parsed again for that, which only problems ask for. */
import { type Document, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { composeDocuments } from './documents.ts';
import { pointerSegments } from './pointer.ts';
import { formatPosition } from './position.ts';

/** Compared by identity: the same object is the same text. */
export interface YamlText {
  readonly text: string;
}

export interface Spot {
  line: number;
  column: number;
}

/** Problems of one file come one after another, so a few trees are enough. */
const KEPT = 4;
const recent: { file: YamlText; documents: Document.Parsed[] }[] = [];

function documentsOf(file: YamlText): Document.Parsed[] {
  const known = recent.find((entry) => entry.file === file);
  if (known) return known.documents;
  const { documents } = composeDocuments(file.text);
  recent.unshift({ file, documents });
  recent.length = Math.min(recent.length, KEPT);
  return documents;
}

interface Found {
  /** Where the key or the list item begins. */
  offset: number;
  /** The value; null where the pointer led past what is written. */
  node: Node | null;
}

function keyText(key: unknown): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function find(document: Document.Parsed, pointer: string): Found {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? document.range[0];
  for (const segment of pointerSegments(pointer)) {
    if (isMap(node)) {
      const pair = node.items.find((candidate) => keyText(candidate.key) === segment);
      if (!pair) return { offset, node: null };
      offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(segment)];
      if (item === undefined) return { offset, node: null };
      node = item;
      offset = (item as Node | null)?.range?.[0] ?? offset;
    } else {
      return { offset, node: null };
    }
  }
  return { offset, node: isMap(node) || isSeq(node) || isScalar(node) ? node : null };
}

/** Where the value at the pointer, or its nearest written ancestor, was written: at its key, or as a list item. */
export function locate(file: YamlText, docIndex: number, pointer: string): Spot {
  const document = documentsOf(file)[docIndex];
  return document ? formatPosition(file.text, find(document, pointer).offset) : { line: 1, column: 1 };
}

/** The source of the scalar at the pointer, as it was typed. */
export function writtenAt(file: YamlText, docIndex: number, pointer: string): string | null {
  const document = documentsOf(file)[docIndex];
  const node = document ? find(document, pointer).node : null;
  return isScalar(node) ? (node.source ?? null) : null;
}

/** Line n of a literal block is line n below its header; only the indentation is missing from the value. */
function insideBlock(file: YamlText, node: Scalar, line: number, column: number): Spot {
  const header = file.text.indexOf('\n', node.range?.[0] ?? 0) + 1;
  const typed = file.text.slice(header, node.range?.[1] ?? header).split(/\r?\n/);
  const values = String(node.value).split('\n');
  const filled = values.findIndex((value) => value !== '');
  const indent = (typed[filled] ?? '').length - (values[filled] ?? '').length;
  return { line: formatPosition(file.text, header).line + line - 1, column: Math.max(indent, 0) + column };
}

/** Where line and column of the text at the pointer were typed. Exact for `|` blocks and for texts on one line. */
export function locateInText(
  file: YamlText,
  docIndex: number,
  pointer: string,
  line: number,
  column: number,
): Spot {
  const document = documentsOf(file)[docIndex];
  if (!document) return { line: 1, column: 1 };
  const { node, offset } = find(document, pointer);
  if (!isScalar(node) || !node.range) return formatPosition(file.text, offset);
  if (node.type === 'BLOCK_LITERAL') return insideBlock(file, node, line, column);
  const begin = formatPosition(file.text, node.range[0]);
  const quoted = node.type === 'QUOTE_SINGLE' || node.type === 'QUOTE_DOUBLE' ? 1 : 0;
  const typed = file.text.slice(node.range[0] + quoted, node.range[1] - quoted);
  if (line !== 1 || typed !== node.value) return begin;
  return { line: begin.line, column: begin.column + quoted + column - 1 };
}
