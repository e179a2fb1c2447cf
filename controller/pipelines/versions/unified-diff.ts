/** Computes a unified diff in bounded time. */
import { createTwoFilesPatch, formatPatch } from 'diff';

const CONTEXT = 3;
/** Added and removed lines; the time of the diff algorithm grows with their square. */
const MAX_EDITS = 1_000;

/**
 * Empty if the texts are equal. Beyond `MAX_EDITS`, everything between the first and the last difference counts as replaced.
 */
export function unifiedDiff(from: string, to: string, before: string, after: string): string {
  if (before === after) return '';
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS };
  return (
    createTwoFilesPatch(from, to, before, after, '', '', options) ??
    replaceAllBetween(from, to, before, after)
  );
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

function replaceAllBetween(from: string, to: string, before: string, after: string): string {
  const [old, made] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, made.length);
  let head = 0;
  while (head < shorter && old[head] === made[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === made.at(-1 - tail)) tail += 1;
  const begin = Math.max(0, head - CONTEXT);
  const contextTail = Math.min(tail, CONTEXT);
  const lines = [
    ...old.slice(begin, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...made.slice(head, made.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail, old.length - tail + contextTail).map((line) => ` ${line}`),
  ];
  const hunk = {
    oldStart: begin + 1,
    oldLines: old.length - tail + contextTail - begin,
    newStart: begin + 1,
    newLines: made.length - tail + contextTail - begin,
    lines,
  };
  return formatPatch({
    oldFileName: from,
    newFileName: to,
    oldHeader: '',
    newHeader: '',
    hunks: [hunk],
  });
}
