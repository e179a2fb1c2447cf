/** Where values stand in a YAML text: which characters are a value's, and which an entry's. */
import {
  type Alias,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { pointerSegments } from '../../../controller/platform/yaml/pointer.ts';
import { CannotEdit } from './cannot-edit.ts';

export type Collection = YAMLMap | YAMLSeq;
export type Item = CST.CollectionItem;

/** Where a value stands, or would stand. */
export interface Slot {
  parent: Collection;
  index: number;
  item: Item;
  /** Null where nothing is written. */
  node: Node | null;
}

export type Found =
  /** The value is there. */
  | { type: 'slot'; slot: Slot }
  /** The collection is there, the entry is not; `rest` are the segments that are missing. */
  | { type: 'entry'; parent: Collection; slot: Slot | null; rest: string[] }
  /** An empty place, of which `rest` is wanted. */
  | { type: 'empty'; slot: Slot; rest: string[] };

export const isFlow = (node: Collection): boolean =>
  (node.srcToken as CST.Token | undefined)?.type === 'flow-collection';

function keyText(key: unknown): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

/** What was read of each entry, in the order of the entries. */
export function itemsOf(parent: Collection): Item[] {
  if (isMap(parent)) return parent.items.map((pair) => pair.srcToken as Item);
  const token = parent.srcToken as CST.BlockSequence | CST.FlowCollection;
  if (token.type === 'block-seq')
    return token.items.filter(({ start }) => start.some(({ type }) => type === 'seq-item-ind')) as Item[];
  return (token.items as Item[]).filter((item) => item.value !== undefined || item.key !== undefined);
}

export function slotAt(parent: Collection, index: number): Slot {
  const item = itemsOf(parent)[index];
  if (!item) throw new CannotEdit('the position of an entry is unknown');
  const value = isMap(parent) ? parent.items[index]?.value : parent.items[index];
  // An empty value is a node without a text.
  return {
    parent,
    index,
    item,
    node: item.value === undefined && isMap(parent) ? null : (value as Node | null),
  };
}

/** Follows the pointer as far as the document goes. */
export function find(document: Document.Parsed, pointer: string): Found {
  let node: unknown = document.contents;
  let slot: Slot | null = null;
  const segments = pointerSegments(pointer);
  for (const [at, segment] of segments.entries()) {
    if (isAlias(node))
      throw new CannotEdit(`what stands there is an alias (*${node.source}) of what stands elsewhere too`);
    const rest = segments.slice(at);
    if (isMap(node)) {
      const index: number = node.items.findIndex((pair) => keyText(pair.key) === segment);
      if (index < 0) return { type: 'entry', parent: node, slot, rest };
      slot = slotAt(node, index);
    } else if (isSeq(node)) {
      const index = segment === '-' ? node.items.length : Number(segment);
      if (!Number.isInteger(index) || index < 0 || index > node.items.length)
        throw new CannotEdit(`the list at ${pointer} has no entry ${segment.slice(0, 50)}`);
      if (index === node.items.length) return { type: 'entry', parent: node, slot, rest };
      slot = slotAt(node, index);
    } else if (slot && (slot.node === null || (isScalar(slot.node) && slot.node.value === null))) {
      return { type: 'empty', slot, rest };
    } else {
      throw new CannotEdit(`${segments.slice(0, at).join('.')} is one value and has no fields`);
    }
    node = slot.node;
  }
  if (!slot) throw new CannotEdit('a whole document cannot be replaced');
  return { type: 'slot', slot };
}

/** The nodes from the root to where the pointer leads, as far as they are there. */
export function pathTo(document: Document.Parsed, pointer: string): Node[] {
  const nodes: Node[] = [];
  let node: unknown = document.contents;
  for (const segment of [...pointerSegments(pointer), null]) {
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) break;
    nodes.push(node);
    if (segment === null || isScalar(node)) break;
    node = isMap(node)
      ? node.items.find((pair) => keyText(pair.key) === segment)?.value
      : node.items[Number(segment)];
  }
  return nodes;
}

/**
 * Refuses where an alias elsewhere stands for something on the way, or for something within what is replaced.
 * @throws CannotEdit
 */
export function assertNotShared(document: Document.Parsed, pointer: string): void {
  const aliases: Alias[] = [];
  visit(document, { Alias: (_key, alias) => void aliases.push(alias) });
  if (aliases.length === 0) return;
  const shared = (anchor: string | undefined, within: Node | null) =>
    anchor !== undefined &&
    aliases.some((alias) => {
      if (alias.source !== anchor) return false;
      const at = alias.range?.[0] ?? 0;
      return !within?.range || at < within.range[0] || at >= within.range[1];
    });
  const way = pathTo(document, pointer);
  const target = way.length > pointerSegments(pointer).length ? way.at(-1) : undefined;
  const refuse = (anchor: string | undefined) => {
    throw new CannotEdit(
      `what stands there is shared: *${anchor} stands for it in other places of the document`,
    );
  };
  for (const node of way) {
    const { anchor } = node as Scalar;
    if (node !== target && shared(anchor, null)) refuse(anchor);
  }
  if (!target) return;
  const look = (node: { anchor?: string | undefined }) => {
    if (shared(node.anchor, target)) refuse(node.anchor);
  };
  visit(target as Node, { Scalar: (_key, node) => look(node), Collection: (_key, node) => look(node) });
}

const SPACING = new Set(['space', 'newline', 'comment', 'comma']);
const ends = (tokens: readonly CST.SourceToken[] | undefined): number => {
  const last = tokens?.findLast(({ type }) => !SPACING.has(type));
  return last ? last.offset + last.source.length : -1;
};

/** Where the entry begins: its dash, its key, or in a flow its first character. */
export function beginOf({ start, key, value }: Item): number {
  const first = start.find(({ type }) => !SPACING.has(type));
  return first?.offset ?? (key as CST.Token | null | undefined)?.offset ?? value?.offset ?? 0;
}

/** Behind the colon or the dash, and behind an anchor or tag. */
export function headEndOf({ start, key, sep, value }: Item): number {
  const head = Math.max(ends(sep), ends(start));
  return head >= 0 ? head : ((key as CST.Token | null | undefined)?.offset ?? value?.offset ?? 0);
}

/** Behind the last character of the value; of a block, behind its last line that is not empty. */
export function endOfNode(text: string, node: Node): number {
  if ((isMap(node) || isSeq(node)) && !isFlow(node)) {
    const last = node.items.length - 1;
    return last < 0 ? (node.range?.[1] ?? 0) : endOf(text, slotAt(node, last));
  }
  const [begin, end] = node.range ?? [0, 0];
  return begin + text.slice(begin, end).trimEnd().length;
}

/** Behind the last character of the entry. */
export function endOf(text: string, { item, node }: Slot): number {
  if (item.value !== undefined && node) return endOfNode(text, node);
  const key = item.key as CST.FlowScalar | null | undefined;
  return Math.max(headEndOf(item), key ? key.offset + (key.source?.length ?? 0) : 0);
}

export const isBlockScalar = (node: Node | null): node is Scalar<string> =>
  isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
