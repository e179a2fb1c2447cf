/**
 * Finds items by their keys where they are asked for in nearly the order of the list: the next one is looked at first,
 * and an index is made only once that fails for another reason than that an item is new in its place.
 */
export function inOrder<T>(list: readonly T[], keyOf: (item: T) => string): (key: string) => T | undefined {
  let next = 0;
  let places: Map<string, number> | null = null;
  return (key) => {
    const expected = list[next];
    if (expected === undefined || keyOf(expected) !== key) {
      if (list.length === 0) return undefined;
      places ??= new Map(list.map((item, index) => [keyOf(item), index]));
      const place = places.get(key);
      if (place === undefined) return undefined;
      next = place;
    }
    next += 1;
    return list[next - 1];
  };
}
