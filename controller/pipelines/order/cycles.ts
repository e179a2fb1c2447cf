/** Circles in a graph of who depends on whom. Pure, and linear in nodes and edges. */

/** Of a circle that is shown. */
const MAX_NAMES = 10;

export type DependenciesOf<K> = (key: K) => readonly K[];

/**
 * Tarjan's strongly connected components, dependencies first. A component of several keys, or of one that depends on
 * itself, is a circle. Not recursive: a chain may be as long as there are pipelines.
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

/** From the key along its dependencies until the one that depends on the key again; null where no way leads back. */
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

/** `a → b → a`; the middle of a long circle is counted. `end` is what the first is called where it comes again. */
export function circleText(names: readonly string[], end = names[0]): string {
  const shown =
    names.length <= MAX_NAMES
      ? names
      : [...names.slice(0, MAX_NAMES - 1), `${names.length - MAX_NAMES} more`, ...names.slice(-1)];
  return [...shown, end].join(' → ');
}
