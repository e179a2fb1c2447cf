/**
 * Changes of one document of a YAML file that leave everything else of the file as it is, to the byte: comments, order,
 * quotes, anchors, line ends. What cannot be done so is refused.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isSeq, visit } from 'yaml';
import { composeDocuments } from '../../../controller/platform/yaml/documents.ts';
import { plainValue } from '../../../controller/platform/yaml/plain-value.ts';
import { pointerSegments } from '../../../controller/platform/yaml/pointer.ts';
import { CannotEdit } from './cannot-edit.ts';
import { insertValue, removeValue, setValue } from './splice.ts';
import type { Source } from './text-splice.ts';
import { assertNotShared, beginOf, isFlow, itemsOf } from './yaml-tree.ts';

export interface Edit {
  /** Into the document, for example `/spec/logLevel`. `/-` at its end is behind the last entry of a list. */
  pointer: string;
  /** Undefined removes. */
  value: unknown | undefined;
  /** Puts the value before what stands there in a list, instead of replacing it. */
  insert?: boolean;
}

const BOM = '\ufeff';
const MAX_EDITS = 5_000;

export interface EditOptions {
  /** References and placeholders may be replaced by texts, as where what is written comes from another manifest. */
  overwrite?: boolean;
}

/**
 * The text with the edits done in their order, each looking at what the one before left.
 * @throws CannotEdit
 */
export function editDocument(
  text: string,
  docIndex: number,
  edits: readonly Edit[],
  { overwrite = false }: EditOptions = {},
): string {
  if (edits.length > MAX_EDITS) throw new CannotEdit(`more than ${MAX_EDITS} places would change at once`);
  const mark = text.startsWith(BOM) ? BOM : '';
  const before = text.slice(mark.length);
  const read = readAll(before);
  const old = read[docIndex];
  if (!old) throw new CannotEdit('the file does not hold the document any more');
  let now = before;
  let expected = copyOf(old.value);
  for (const edit of edits) {
    if (!overwrite) refuseLoss(expected, edit);
    const source = sourceOf(now, docIndex);
    // What an alias stands for is not written here.
    assertNotShared(
      source.document,
      edit.value === undefined || !edit.insert ? edit.pointer : parentOf(edit.pointer),
    );
    if (edit.value === undefined) now = removeValue(source, edit.pointer);
    else if (edit.insert) now = insertValue(source, edit.pointer, edit.value);
    else now = setValue(source, edit.pointer, edit.value);
    expected = edited(expected, edit);
  }
  verify(now, read, docIndex, expected);
  return mark + now;
}

const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'));
const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

interface ReadDocument {
  value: unknown;
  text: string;
}

function compose(text: string, sourceTokens: boolean): Document.Parsed[] {
  const { documents, finding } = composeDocuments(text, { sourceTokens });
  const fault = finding?.message ?? documents.flatMap(({ errors }) => errors)[0]?.message.split('\n')[0];
  if (fault !== undefined) throw new CannotEdit(`the file is no sound YAML: ${fault.slice(0, 300)}`);
  return documents;
}

function readAll(text: string): ReadDocument[] {
  return compose(text, false).map((document) => {
    const { value, findings } = plainValue(text, document);
    if (findings[0]) throw new CannotEdit(`the file cannot be read: ${findings[0].message}`);
    return { value, text: text.slice(document.range[0], document.range[2]) };
  });
}

function sourceOf(text: string, docIndex: number): Source {
  const document = compose(text, true)[docIndex];
  if (!document) throw new CannotEdit('the document cannot be told apart from its neighbours any more');
  const crlf = text.match(/\r\n/g)?.length ?? 0;
  const all = text.match(/\n/g)?.length ?? 0;
  return { text, document, eol: crlf * 2 > all ? '\r\n' : '\n', ...manner(text, document) };
}

/** How this document is indented. */
function manner(text: string, document: Document.Parsed): { step: number; indentSeq: boolean } {
  let step: number | null = null;
  let indentSeq: boolean | null = null;
  const column = (at: number) => at - text.lastIndexOf('\n', at - 1) - 1;
  visit(document, {
    Pair(_key, pair) {
      const { value } = pair;
      if ((!isMap(value) && !isSeq(value)) || isFlow(value) || !pair.srcToken) return;
      const first = itemsOf(value)[0];
      if (!first) return;
      const inner = column(beginOf(first)) - column(beginOf(pair.srcToken as Parameters<typeof beginOf>[0]));
      if (isSeq(value)) indentSeq ??= inner > 0;
      else if (inner > 0 && inner <= 8) step ??= inner;
      if (step !== null && indentSeq !== null) return visit.BREAK;
    },
  });
  return { step: step ?? 2, indentSeq: indentSeq ?? true };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is after the edit; the given one is left as it is. */
export function edited(value: unknown, { pointer, value: wanted, insert }: Edit): unknown {
  const segments = pointerSegments(pointer);
  const walk = (node: unknown, at: number): unknown => {
    const segment = segments[at];
    if (segment === undefined) return copyOf(wanted);
    const last = at === segments.length - 1;
    if (Array.isArray(node)) {
      const index = segment === '-' ? node.length : Number(segment);
      if (last && wanted === undefined) return node.toSpliced(index, 1);
      if (last && insert) return node.toSpliced(index, 0, copyOf(wanted));
      return node.toSpliced(index, 1, walk(node[index], at + 1));
    }
    const record = isRecord(node) ? node : {};
    if (wanted === undefined && !Object.hasOwn(record, segment)) return node;
    if (last && wanted === undefined) {
      const { [segment]: _, ...rest } = record;
      return rest;
    }
    return {
      ...record,
      [segment]: walk(Object.hasOwn(record, segment) ? record[segment] : undefined, at + 1),
    };
  };
  return walk(value, 0);
}

/** @throws CannotEdit where a reference or placeholder would be overwritten by what it stands for now. */
function refuseLoss(document: unknown, { pointer, value, insert }: Edit): void {
  const segments = pointerSegments(pointer);
  let node = document;
  for (const [at, segment] of segments.entries()) {
    if (isRecord(node) && Object.hasOwn(node, '$file') && at < segments.length)
      throw new CannotEdit(`${pointer} is read from another file, by $file`);
    node = Array.isArray(node)
      ? node[Number(segment)]
      : isRecord(node) && Object.hasOwn(node, segment)
        ? node[segment]
        : undefined;
  }
  if (value === undefined || insert || node === undefined) return;
  const lost = indirect(node).find((one) => !indirect(value).includes(one));
  if (lost !== undefined)
    throw new CannotEdit(
      `${pointer} is written with ${lost}, which the change would replace by what it stands for`,
    );
}

/** The `$file` references and `${value.x}` placeholders within a value. */
function indirect(value: unknown): string[] {
  if (typeof value === 'string') return value.match(/(?<!\$)\$\{value\.[^{}\n]{0,200}\}/g) ?? [];
  if (typeof value !== 'object' || value === null) return [];
  if ('$file' in value) return [`$file: ${String((value as { $file: unknown }).$file).slice(0, 200)}`];
  return Object.values(value).flatMap(indirect);
}

function verify(text: string, before: readonly ReadDocument[], docIndex: number, expected: unknown): void {
  const after = readAll(text);
  const others =
    after.length === before.length &&
    before.every((one, index) => index === docIndex || isDeepStrictEqual(one.value, after[index]?.value));
  if (!others || !isDeepStrictEqual(after[docIndex]?.value, expected))
    throw new CannotEdit('it cannot be written there without changing other lines');
}

/**
 * The file without one of its documents; null where that was all that it held.
 * @throws CannotEdit
 */
export function removeDocument(text: string, docIndex: number): string | null {
  const mark = text.startsWith(BOM) ? BOM : '';
  const before = text.slice(mark.length);
  const read = readAll(before);
  if (!read[docIndex]) throw new CannotEdit('the file does not hold the document any more');
  const left = read.filter((_, index) => index !== docIndex);
  if (left.every(({ value }) => value === null)) return null;
  const documents = compose(before, false);
  const begin = (index: number) => {
    const at = documents[index]?.range[0] ?? before.length;
    return before.startsWith('---', at) ? at : before.lastIndexOf('\n', at - 1) + 1;
  };
  const from = docIndex === 0 ? 0 : begin(docIndex);
  const to = docIndex + 1 < documents.length ? begin(docIndex + 1) : before.length;
  const now = before.slice(0, from) + before.slice(to);
  const after = readAll(now).filter(({ value }) => value !== null);
  const kept = left.filter(({ value }) => value !== null);
  if (
    !isDeepStrictEqual(
      after.map(({ value }) => value),
      kept.map(({ value }) => value),
    )
  )
    throw new CannotEdit('the document cannot be taken out without changing its neighbours');
  return mark + now;
}
