/** Texts that stand as lines of their own below a `|`. */

import { blockOf } from './render.ts';
import { columnOf, indented, lineEnd, type Source, type Splice } from './text-splice.ts';
import { beginOf, endOfNode, type Slot } from './yaml-tree.ts';

/** A block stays one, and its unchanged lines are not rewritten. */
export function replaceBlock(
  source: Source,
  slot: Slot,
  old: NonNullable<Slot['node']>,
  value: string,
): Splice[] {
  const { text } = source;
  const begin = old.range?.[0] ?? 0;
  const header = /^([|>])([-+0-9]*)/.exec(text.slice(begin));
  const digit = header?.[2]?.replace(/[-+]/g, '') ?? '';
  const keeps = header?.[2]?.includes('+') ?? false;
  const { chomp, lines } = blockOf(value);
  const from = lineEnd(text, begin);
  const content = keeps
    ? (old.range?.[1] ?? from)
    : Math.max(from, lineEnd(text, Math.max(endOfNode(text, old) - 1, begin)));
  const typed = text.slice(from, content).match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const filled = typed.find((line) => line.trim() !== '');
  const parent = columnOf(text, beginOf(slot.item));
  const column =
    digit !== ''
      ? parent + Number(digit)
      : filled
        ? (/^ */.exec(filled)?.[0].length ?? 0)
        : parent + source.step;
  const typedAs = typed.map((line) => line.replace(/\r?\n$/, '').slice(column));
  const literal = header?.[1] === '|';
  let head = 0;
  while (literal && head < lines.length && head < typed.length && typedAs[head] === lines[head]) head += 1;
  let tail = 0;
  while (
    literal &&
    tail < lines.length - head &&
    tail < typed.length - head &&
    typedAs[typed.length - 1 - tail] === lines[lines.length - 1 - tail]
  )
    tail += 1;
  const kept = (line: string) => (line.endsWith('\n') ? line : `${line}${source.eol}`);
  const middle = indented(lines.slice(head, lines.length - tail), column).map((line) => line + source.eol);
  const put = [
    ...typed.slice(0, head).map(kept),
    ...middle,
    ...typed.slice(typed.length - tail).map(kept),
  ].join('');
  const open = !text.slice(0, from).endsWith('\n') ? source.eol : '';
  // Without a last line break before, and with a value that does not end with one either, none is added.
  const unended = content === text.length && !text.endsWith('\n') && chomp === '-';
  return [
    { from: begin, to: begin + (header?.[0].length ?? 1), text: `|${digit}${chomp}` },
    { from, to: content, text: open + (unended ? put.replace(/\r?\n$/, '') : put) },
  ];
}
