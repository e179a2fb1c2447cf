/** The scopes in which events are routed: the root and each label, in an order in which events mostly go forward. */
import type { Draft, Emission } from '../rules/draft.ts';
import type { TagPattern } from '../tags/pattern.ts';

export const ROOT = '@ROOT';

export interface RoutedBlock {
  index: number;
  kind: 'source' | 'filter' | 'match';
  /** `@NAME` or `ROOT`: where a source sends its events, and where a filter or match stands. */
  scope: string;
  pattern: TagPattern;
  draft: Draft;
  line: number;
}

export interface Scope {
  name: string;
  rules: RoutedBlock[];
}

export const targetOf = (emission: Emission, scope: string): string => emission.label ?? scope;

/** In topological order, as far as there is one: a scope comes after those that send events to it. */
export function orderScopes(blocks: readonly RoutedBlock[]): Scope[] {
  const byName = new Map<string, Scope>([[ROOT, { name: ROOT, rules: [] }]]);
  const targets = new Map<string, Set<string>>();
  const scopeOf = (name: string): Scope => {
    const scope = byName.get(name) ?? { name, rules: [] };
    byName.set(name, scope);
    return scope;
  };
  for (const block of blocks) {
    if (block.kind === 'source') continue;
    scopeOf(block.scope).rules.push(block);
    for (const emission of block.draft.emissions) {
      const set = targets.get(block.scope) ?? new Set();
      targets.set(block.scope, set.add(targetOf(emission, block.scope)));
    }
  }
  const done: Scope[] = [];
  const visited = new Set<string>();
  /** Depth first, without recursion: a chain of labels can be as long as the configuration. */
  for (const start of [ROOT, ...byName.keys()]) {
    const path = [{ name: start, next: [...(targets.get(start) ?? [])] }];
    if (visited.has(start)) continue;
    visited.add(start);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.next.pop();
      if (next === undefined) {
        const scope = byName.get(top.name);
        if (scope) done.push(scope);
        path.pop();
      } else if (!visited.has(next)) {
        visited.add(next);
        path.push({ name: next, next: [...(targets.get(next) ?? [])] });
      }
    }
  }
  return done.reverse();
}
