/**
 * Which manifests can be applied without closing a dependency cycle, and in which order. Pure. A cycle may lead through
 * manifests, through dependencies made in the UI, and through manifests that stay as they were applied.
 */
import { componentsOf, isCircle, shortestCircle } from '../../../controller/pipelines/order/index.ts';

export interface DependencyNode {
  key: string;
  /** Its dependencies once its manifest is applied; null where no manifest is to be applied. */
  wanted: readonly string[] | null;
  /** Its dependencies while its manifest is not applied. */
  current: readonly string[];
}

export interface DependencyOrder {
  /** The keys that can be applied, dependencies first. */
  order: string[];
  /**
   * The keys that cannot, each with a cycle that it is in: the first depends on the second, the last on the first. In a
   * component of more than 100 keys it may be a cycle that the key only leads to and comes from.
   */
  circles: ReadonlyMap<string, readonly string[]>;
}

/** A refused manifest stays as it was, which may close another cycle. After this many rounds both states count at once. */
const MAX_ROUNDS = 20;
/** Shortest cycles that are searched in one component; each search walks over the component. */
const MAX_SEARCHES = 100;

export function orderOf(nodes: readonly DependencyNode[]): DependencyOrder {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const accepted = new Set(nodes.flatMap(({ key, wanted }) => (wanted === null ? [] : [key])));
  const circles = new Map<string, readonly string[]>();
  for (let round = 1; ; round += 1) {
    const dependenciesOf = (key: string): readonly string[] => {
      const node = byKey.get(key);
      if (!node) return [];
      // Where both states together contain no cycle, no choice between them does.
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
