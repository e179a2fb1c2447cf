/**
 * Answers of tools go into the context of a model, which is small. What is too large loses the ends of its longest lists, so
 * that it still has the form of its schema, and names what was cut.
 */
export interface ShortAnswer {
  value: unknown;
  json: string;
  /** One sentence a list that was cut. */
  cuts: string[];
  /** Whether it is short enough; texts are not cut. */
  fits: boolean;
}

interface FoundList {
  path: string;
  list: unknown[];
  bytes: number;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? 'null');

/** Each round shortens a list; entries of very different sizes take several. */
const MAX_ROUNDS = 200;

/** Takes `answer` apart: it must be JSON that nobody else holds. */
export function shortenAnswer(answer: unknown, limit: number): ShortAnswer {
  const lengths = new Map<string, { list: unknown[]; before: number }>();
  let json = JSON.stringify(answer) ?? 'null';
  for (let round = 0; round < MAX_ROUNDS && Buffer.byteLength(json) > limit; round += 1) {
    const over = Buffer.byteLength(json) - limit;
    const found = largestList(answer);
    if (!found) break;
    const { path, list, bytes } = found;
    lengths.set(path, { list, before: lengths.get(path)?.before ?? list.length });
    // As many as fit by their mean size, and at least one; the next round measures again.
    const share = Math.floor(list.length * (1 - over / bytes));
    list.length = Math.max(1, Math.min(share, list.length - 1));
    json = JSON.stringify(answer) ?? 'null';
  }
  const cuts = [...lengths].map(
    ([path, { list, before }]) =>
      `${path || 'the list'} has ${before} entries, of which the first ${list.length} are here`,
  );
  return { value: answer, json, cuts, fits: Buffer.byteLength(json) <= limit };
}

/** The list with the most bytes beyond its first entry; a list within another one is a part of it. */
function largestList(value: unknown): FoundList | null {
  let largest: FoundList | null = null;
  const walk = (at: unknown, path: string, depth: number) => {
    if (typeof at !== 'object' || at === null || depth > 64) return;
    if (Array.isArray(at) && at.length > 1) {
      const bytes = bytesOf(at.slice(1));
      if (!largest || bytes > largest.bytes) largest = { path, list: at, bytes };
      // What is inside of a list is measured only where cutting the list itself is not enough.
      walk(at[0], `${path}[0]`, depth + 1);
      return;
    }
    for (const [key, item] of Object.entries(at))
      walk(item, Array.isArray(at) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`, depth + 1);
  };
  walk(value, '', 0);
  return largest;
}
