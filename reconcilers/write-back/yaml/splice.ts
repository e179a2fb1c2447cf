/** One change of a YAML text: all characters around it stay what they are. */
import { isMap, isSeq } from 'yaml';
import { CannotEdit } from './cannot-edit.ts';
import { blockLines, blockOf, fitsBlock, inlineText, isEmptyCollection, type ScalarStyle } from './render.ts';
import { replaceBlock } from './splice-block.ts';
import { insertFlow, removeFlow } from './splice-flow.ts';
import {
  apply,
  columnOf,
  indented,
  isFirstOnLine,
  lineEnd,
  lineStart,
  linesAt,
  type Source,
  type Splice,
} from './text-splice.ts';
import {
  beginOf,
  type Collection,
  endOf,
  endOfNode,
  find,
  headEndOf,
  isBlockScalar,
  isFlow,
  itemsOf,
  type Slot,
  slotAt,
} from './yaml-tree.ts';

/** Sets the value of an entry, or makes the entry, with the parents that it lacks. */
export function setValue(source: Source, pointer: string, value: unknown): string {
  const found = find(source.document, pointer);
  if (found.type === 'slot') return apply(source.text, replace(source, found.slot, value));
  const [first = '', ...rest] = found.rest;
  const nested = (segments: readonly string[]): unknown =>
    segments.reduceRight<unknown>((inner, segment) => ({ [segment]: inner }), value);
  if (found.type === 'empty') return apply(source.text, replace(source, found.slot, nested(found.rest)));
  return apply(source.text, add(source, found.parent, found.slot, first, nested(rest)));
}

/** Puts an entry into a list, before the one that stands at the pointer. */
export function insertValue(source: Source, pointer: string, value: unknown): string {
  const at = pointer.lastIndexOf('/');
  const found = find(source.document, pointer);
  if (found.type === 'entry' && found.rest.length === 1) return setValue(source, pointer, value);
  if (found.type !== 'slot' || !isSeq(found.slot.parent))
    throw new CannotEdit(`${pointer.slice(0, at)} is no list`);
  return apply(source.text, insert(source, found.slot.parent, found.slot.index, value));
}

export function removeValue(source: Source, pointer: string): string {
  const found = find(source.document, pointer);
  if (found.type !== 'slot') return source.text;
  const { parent, index } = found.slot;
  if (parent.items.length > 1)
    return apply(
      source.text,
      isFlow(parent) ? removeFlow(source, parent, index) : removeBlock(source, parent, index),
    );
  // What is left empty is said to be so: nothing at all would be null.
  const above = pointer.slice(0, pointer.lastIndexOf('/'));
  if (above === '') throw new CannotEdit('nothing would be left of the document');
  return setValue(source, above, isMap(parent) ? {} : []);
}

function replace(source: Source, slot: Slot, value: unknown): Splice[] {
  const { text } = source;
  const { parent, item, node } = slot;
  const old = item.value === undefined ? null : node;
  const head = headEndOf(item);
  const style = old && 'type' in old ? (old.type as ScalarStyle) : undefined;
  if (isFlow(parent)) {
    const put = inlineText(value, true, style);
    if (old?.range) return [{ from: old.range[0], to: endOfNode(text, old), text: put }];
    const end = endOf(text, slot);
    const colon = isMap(parent) && text[end - 1] !== ':' ? ':' : '';
    return [{ from: end, to: end, text: `${colon} ${put}` }];
  }
  if (isBlockScalar(old) && typeof value === 'string' && fitsBlock(value))
    return replaceBlock(source, slot, old, value);

  /** What is taken away in the line of the key, and below it. */
  const splices: Splice[] = [];
  let inlineAt = { from: head, to: head };
  let below = lineEnd(text, head);
  if (isBlockScalar(old)) {
    const begin = old.range?.[0] ?? head;
    const header = /^[|>][-+0-9]*/.exec(text.slice(begin))?.[0] ?? '|';
    inlineAt = { from: begin, to: begin + header.length };
    below = lineEnd(text, begin);
    splices.push({ from: below, to: Math.max(below, lineEnd(text, endOfNode(text, old) - 1)), text: '' });
  } else if (old && (isMap(old) || isSeq(old)) && !isFlow(old)) {
    const begin = beginOf(itemsOf(old)[0] as Slot['item']);
    const end = endOfNode(text, old);
    if (isFirstOnLine(text, begin)) {
      below = lineStart(text, begin);
      splices.push({ from: below, to: lineEnd(text, end), text: '' });
    } else inlineAt = { from: begin, to: end };
  } else if (old?.range) {
    inlineAt = { from: old.range[0], to: endOfNode(text, old) };
    below = lineEnd(text, inlineAt.to);
  }
  const column = columnOf(text, beginOf(item));
  const putInline = (put: string): Splice => ({
    ...inlineAt,
    text: inlineAt.from === head ? ` ${put}` : put,
  });
  const collection = typeof value === 'object' && value !== null && !isEmptyCollection(value);
  if (collection && isSeq(parent)) {
    const lines = blockLines(value, source);
    const gap = inlineAt.from === head ? 1 : inlineAt.from - head;
    const put = [lines[0] ?? '', ...indented(lines.slice(1), column + 1 + gap)].join(source.eol);
    return [...splices, putInline(put)];
  }
  if (collection) {
    const lines = blockLines(value, source);
    const dashes = Array.isArray(value) && !source.indentSeq;
    const at =
      splices[0] &&
      below === splices[0].from &&
      isMap(old) === !Array.isArray(value) &&
      old &&
      !isBlockScalar(old)
        ? columnOf(text, beginOf(itemsOf(old as Collection)[0] as Slot['item']))
        : dashes
          ? column
          : column + source.step;
    // The blank before a value that goes is the value's.
    const clear = inlineAt.to > inlineAt.from ? [{ from: head, to: inlineAt.to, text: '' }] : [];
    const put = linesAt(source, splices[0]?.from ?? below, indented(lines, at));
    return [...splices, ...clear, put];
  }
  if (typeof value === 'string' && value.includes('\n') && fitsBlock(value)) {
    const { chomp, lines } = blockOf(value);
    // Right below its header: what stands in between would be read as its text.
    const at = old && splices[0] && !isBlockScalar(old) ? lineEnd(text, head) : (splices[0]?.from ?? below);
    const put = linesAt(source, at, indented(lines, column + source.step), chomp === '');
    return [...splices, putInline(`|${chomp}`), put];
  }
  return [...splices, putInline(inlineText(value, false, style))];
}

/** The entry as lines of its own. */
function entryLines(
  source: Source,
  key: string | null,
  value: unknown,
): { lines: string[]; closed: boolean } {
  const block = typeof value === 'string' && value.includes('\n') && fitsBlock(value) ? blockOf(value) : null;
  const lines = blockLines(key === null ? [value] : { [key]: value }, source);
  return { lines, closed: block?.chomp === '' };
}

function add(source: Source, parent: Collection, slot: Slot | null, key: string, value: unknown): Splice[] {
  if (isSeq(parent)) return insert(source, parent, parent.items.length, value);
  if (isFlow(parent))
    return insertFlow(
      source,
      parent,
      parent.items.length,
      inlineText({ [key]: value }, true)
        .replace(/^\{ ?/, '')
        .replace(/ ?\}$/, ''),
    );
  const first = itemsOf(parent)[0];
  if (!first) {
    if (slot) return replace(source, slot, { [key]: value });
    throw new CannotEdit('the document is empty');
  }
  const { lines, closed } = entryLines(source, key, value);
  return [
    linesAt(
      source,
      behind(source, slotAt(parent, parent.items.length - 1)),
      indented(lines, columnOf(source.text, beginOf(first))),
      closed,
    ),
  ];
}

/** The beginning of the line after an entry of a block. */
function behind({ text }: Source, slot: Slot): number {
  let last = slot;
  while (
    last.node &&
    (isMap(last.node) || isSeq(last.node)) &&
    !isFlow(last.node) &&
    last.node.items.length > 0
  )
    last = slotAt(last.node, last.node.items.length - 1);
  const { node } = last;
  // Its empty lines are part of such a text.
  if (isBlockScalar(node) && /^[|>]\d?\+/.test(text.slice(node.range?.[0]))) return node.range?.[1] ?? 0;
  return lineEnd(text, Math.max(endOf(text, last) - 1, 0));
}

function insert(source: Source, parent: Collection, index: number, value: unknown): Splice[] {
  if (isFlow(parent)) return insertFlow(source, parent, index, inlineText(value, true));
  const first = itemsOf(parent)[0];
  if (!first) throw new CannotEdit('the position of the list is unknown');
  const { lines, closed } = entryLines(source, null, value);
  const put = indented(lines, columnOf(source.text, beginOf(first)));
  if (index > 0) return [linesAt(source, behind(source, slotAt(parent, index - 1)), put, closed)];
  const begin = beginOf(first);
  if (!isFirstOnLine(source.text, begin))
    throw new CannotEdit('the list begins behind something else in its line');
  return [linesAt(source, lineStart(source.text, begin), put)];
}

function removeBlock({ text }: Source, parent: Collection, index: number): Splice[] {
  const slot = slotAt(parent, index);
  const begin = beginOf(slot.item);
  const end = endOf(text, slot);
  if (isFirstOnLine(text, begin))
    return [{ from: lineStart(text, begin), to: lineEnd(text, Math.max(end - 1, begin)), text: '' }];
  // The first field behind a dash: the next one takes its place.
  const next = beginOf(slotAt(parent, index + 1).item);
  const between = text.slice(end, next);
  return [{ from: begin, to: /^\s*$/.test(between) ? next : end, text: '' }];
}
