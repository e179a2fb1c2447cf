/** Finds cycles in a dependency graph. Pure, and linear in nodes and edges. */

/** Names listed of a cycle. */
const MAX_NAMES = 10;

export type DependenciesOf<K> = (key: K) => readonly K[];

/**
 * Tarjan's strongly connected components, dependencies first. A component of several keys, or of one that depends on itself, is
 * a cycle. Iterative, since a chain may contain all pipelines.
 */
export function componentsOf<K>(keys: Iterable<K>, dependenciesOf: DependenciesOf<K>): K[][] {
  const components: K[][] = [];
  const indexes = new Map<K, number>();
  /** The lowest index that is reachable and still on the stack. */
  const lowest = new Map<K, number>();
  const stack: K[] = [];
  const onStack = new Set<K>();
  const enter = (key: K) => {
    indexes.set(key, indexes.size);
    lowest.set(key, indexes.size - 1);
    stack.push(key);
    onStack.add(key);
    return { key, rest: dependenciesOf(key)[Symbol.iterator]() };
  };
  const lower = (key: K, to: number) => lowest.set(key, Math.min(lowest.get(key) ?? to, to));

  for (const start of keys) {
    if (indexes.has(start)) continue;
    const path = [enter(start)];
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const next = step.rest.next();
      if (!next.done) {
        const index = indexes.get(next.value);
        if (index === undefined) path.push(enter(next.value));
        else if (onStack.has(next.value)) lower(step.key, index);
        continue;
      }
      path.pop();
      const low = lowest.get(step.key) ?? 0;
      const parent = path.at(-1);
      if (parent) lower(parent.key, low);
      if (low !== indexes.get(step.key)) continue;
      const component = stack.splice(stack.lastIndexOf(step.key));
      for (const key of component) onStack.delete(key);
      components.push(component);
    }
  }
  return components;
}

export const isCircle = <K>(component: readonly K[], dependenciesOf: DependenciesOf<K>): boolean =>
  component.length > 1 || component.some((key) => dependenciesOf(key).includes(key));

/** The shortest path from the key along its dependencies back to it; null if there is none. The key itself is listed once. */
export function shortestCircle<K>(key: K, dependenciesOf: DependenciesOf<K>): K[] | null {
  const before = new Map<K, K | null>([[key, null]]);
  for (const at of before.keys()) {
    for (const next of dependenciesOf(at)) {
      if (next === key) return pathTo(at, before);
      if (!before.has(next)) before.set(next, at);
    }
  }
  return null;
}

function pathTo<K>(end: K, before: ReadonlyMap<K, K | null>): K[] {
  const path: K[] = [];
  for (let at: K | null = end; at !== null; at = before.get(at) ?? null) path.push(at);
  return path.reverse();
}

/** `a → b → a`; the middle of a long cycle is replaced by a count. `end` is the name of the first one when it is repeated. */
export function circleText(names: readonly string[], end = names[0]): string {
  const listed =
    names.length <= MAX_NAMES
      ? names
      : [...names.slice(0, MAX_NAMES - 1), `${names.length - MAX_NAMES} more`, ...names.slice(-1)];
  return [...listed, end].join(' → ');
}
