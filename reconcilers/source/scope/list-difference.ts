export interface ListDifference<T> {
  /** In the list before and not in the one after, in order. */
  gone: T[];
  come: T[];
}

/** Compares by reference; nothing may stand in one list twice. Of two long lists that differ in one place only that place is looked at. */
export function listDifference<T>(before: readonly T[], after: readonly T[]): ListDifference<T> {
  const shorter = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < shorter && before[begin] === after[begin]) begin += 1;
  let end = 0;
  while (end < shorter - begin && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const left = before.slice(begin, before.length - end);
  const right = after.slice(begin, after.length - end);
  const [inLeft, inRight] = [new Set(left), new Set(right)];
  return { gone: left.filter((one) => !inRight.has(one)), come: right.filter((one) => !inLeft.has(one)) };
}
