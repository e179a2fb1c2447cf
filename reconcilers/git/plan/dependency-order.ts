/**
 * Which manifests may be applied without closing a circle of dependencies, and in which order. Pure. A circle counts
 * whoever closes it: manifests, dependencies that people have made, and what stays as it was applied.
 */
import { componentsOf, isCircle, shortestCircle } from '../../../controller/pipelines/order/index.ts';

export interface DependencyNode {
  key: string;
  /** What it depends on once its manifest is applied; null where no manifest is to be applied. */
  wanted: readonly string[] | null;
  /** What it depends on while its manifest is not applied. */
  current: readonly string[];
}

export interface DependencyOrder {
  /** Those that may be applied, dependencies first. */
  order: string[];
  /**
   * Those that may not, each with a circle that it is in: the first depends on the second, the last on the first. In a
   * knot of more than 100 it may be a circle that it only leads to and comes from.
   */
  circles: ReadonlyMap<string, readonly string[]>;
}

/** What is refused stays as it was, which may close another circle: so often this is looked at one by one. */
const MAX_ROUNDS = 20;
/** So many circles of one component are looked for; finding a shortest one costs a walk over the component. */
const MAX_SEARCHES = 100;

export function orderOf(nodes: readonly DependencyNode[]): DependencyOrder {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const accepted = new Set(nodes.flatMap(({ key, wanted }) => (wanted === null ? [] : [key])));
  const circles = new Map<string, readonly string[]>();
  for (let round = 1; ; round += 1) {
    const dependenciesOf = (key: string): readonly string[] => {
      const node = byKey.get(key);
      if (!node) return [];
      // Without a circle in both at once, there is none in any choice between them.
      if (round > MAX_ROUNDS) return [...(node.wanted ?? []), ...node.current];
      return accepted.has(key) ? (node.wanted ?? []) : node.current;
    };
    const components = componentsOf(byKey.keys(), dependenciesOf);
    const closed = components.filter(
      (component) => component.some((key) => accepted.has(key)) && isCircle(component, dependenciesOf),
    );
    if (closed.length === 0) {
      const order = components.flat().filter((key) => accepted.has(key));
      return { order, circles };
    }
    for (const component of closed) noteCircles(component, dependenciesOf, accepted, circles);
  }
}

function noteCircles(
  component: readonly string[],
  dependenciesOf: (key: string) => readonly string[],
  accepted: Set<string>,
  circles: Map<string, readonly string[]>,
): void {
  const inside = new Set(component);
  const within = (key: string) => dependenciesOf(key).filter((other) => inside.has(other));
  const members = component.filter((key) => accepted.has(key));
  const first = shortestCircle(members[0] ?? '', within) ?? members;
  for (const [index, key] of members.entries())
    circles.set(key, (index < MAX_SEARCHES ? shortestCircle(key, within) : null) ?? first);
  for (const key of members) accepted.delete(key);
}
