/** Entries within brackets and braces. */
import { isMap } from 'yaml';
import { isFirstOnLine, lineStart, type Source, type Splice } from './text-splice.ts';
import { beginOf, type Collection, endOf, itemsOf, type Slot, slotAt } from './yaml-tree.ts';

export function insertFlow({ text }: Source, parent: Collection, index: number, put: string): Splice[] {
  const items = itemsOf(parent);
  const at = (from: number, added: string): Splice[] => [{ from, to: from, text: added }];
  if (items.length === 0) {
    const open = (parent.range?.[0] ?? 0) + 1;
    return at(open, isMap(parent) ? ` ${put}${/\s/.test(text[open] ?? '') ? '' : ' '}` : put);
  }
  if (index === 0) return at(beginOf(items[0] as Slot['item']), `${put}, `);
  return at(endOf(text, slotAt(parent, index - 1)), `, ${put}`);
}

export function removeFlow({ text }: Source, parent: Collection, index: number): Splice[] {
  const slot = slotAt(parent, index);
  const begin = beginOf(slot.item);
  const end = endOf(text, slot);
  const rest = /^[ \t]*,?[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/.exec(text.slice(end));
  if (isFirstOnLine(text, begin) && rest)
    return [{ from: lineStart(text, begin), to: end + rest[0].length, text: '' }];
  if (index < parent.items.length - 1) {
    const next = beginOf(slotAt(parent, index + 1).item);
    const between = text.slice(end, next);
    const comma = end + between.indexOf(',') + 1;
    return [{ from: begin, to: /^\s*,[ \t]*$/.test(between) ? next : comma, text: '' }];
  }
  return [{ from: endOf(text, slotAt(parent, index - 1)), to: end, text: '' }];
}
