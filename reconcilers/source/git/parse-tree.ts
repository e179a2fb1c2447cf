/** Tree objects of git. Of a large tree that differs little from one that was read before only the difference is read. */
import { kindOf, type TreeEntry } from './tree.ts';

export interface Tree {
  entries: readonly TreeEntry[];
  /** The object, and where each entry ends in it; kept of large trees only. */
  source: { data: Buffer; ends: readonly number[] } | null;
}

const LARGE = 100;
/** Compared at once: comparing byte by byte is slow here. */
const BLOCK = 4096;

function sameBytes(left: Buffer, right: Buffer, fromEnd: boolean, most: number): number {
  const at = (data: Buffer, count: number, length: number) => {
    const begin = fromEnd ? data.length - count - length : count;
    return data.subarray(begin, begin + length);
  };
  let count = 0;
  for (let size = BLOCK; size >= 1; size = size === 1 ? 0 : 1) {
    while (count + size <= most && at(left, count, size).equals(at(right, count, size))) count += size;
  }
  return count;
}

/** How many entries both begin and end with, so that those between are all that is to be read. */
function shared(
  tree: { data: Buffer; ends: readonly number[] },
  data: Buffer,
): { head: number; tail: number } {
  const { ends } = tree;
  const shorter = Math.min(tree.data.length, data.length);
  const begin = sameBytes(tree.data, data, false, shorter);
  const firstOther = ends.findIndex((end) => end > begin);
  const head = firstOther < 0 ? ends.length : firstOther;
  const headBytes = ends[head - 1] ?? 0;
  const end = sameBytes(tree.data, data, true, shorter - headBytes);
  const lastOther = ends.findLastIndex((_, index) => (ends[index - 1] ?? 0) < tree.data.length - end);
  return { head, tail: ends.length - Math.max(lastOther + 1, head) };
}

/**
 * Reads `mode name NUL id` until the end.
 * @param like Another version of the same tree, if there is one: equal entries are the same objects.
 * @throws RangeError on a damaged tree.
 */
export function parseTree(data: Buffer, idBytes: number, like?: Tree): Tree {
  const entries: TreeEntry[] = [];
  const ends: number[] = [];
  const known = like?.source ?? null;
  const { head, tail } = known ? shared(known, data) : { head: 0, tail: 0 };
  const count = known?.ends.length ?? 0;
  const shift = data.length - (known?.data.length ?? 0);
  const tailBegins = tail > 0 ? (known?.ends[count - tail - 1] ?? 0) + shift : data.length;
  const takeOver = (from: number, to: number, by: number) => {
    for (let index = from; index < to; index += 1) {
      entries.push(like?.entries[index] as TreeEntry);
      ends.push((known?.ends[index] ?? 0) + by);
    }
  };
  takeOver(0, head, 0);
  let at = ends.at(-1) ?? 0;
  while (at < tailBegins) {
    const space = data.indexOf(0x20, at);
    const end = data.indexOf(0, space);
    if (space < 0 || end < 0 || end + 1 + idBytes > data.length) throw new RangeError('the tree is damaged');
    const mode = data.toString('latin1', at, space);
    const name = data.toString('utf8', space + 1, end);
    at = end + 1 + idBytes;
    entries.push({ name, kind: kindOf(mode), oid: data.toString('hex', end + 1, at) });
    ends.push(at);
  }
  // Equal bytes at the end need not be equal entries.
  if (at !== tailBegins) return parseTree(data, idBytes);
  takeOver(count - tail, count, shift);
  // What arrives shares its memory with other objects.
  return { entries, source: entries.length < LARGE ? null : { data: Buffer.from(data), ends } };
}
