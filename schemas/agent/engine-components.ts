/** The component types of an engine, in the one form that its digest is made of. Plain values: the agent imports this file. */

export interface ComponentNames {
  sources: readonly string[];
  transforms: readonly string[];
  sinks: readonly string[];
  enrichmentTables: readonly string[];
}

export const COMPONENT_NAME = /^[A-Za-z0-9_-]{1,100}$/;
/** Names of each of the four lists. */
export const MAX_COMPONENT_NAMES = 500;

/** Sorted, each name once: equal engines have equal texts, in whatever order they list their components. */
export function componentsText(names: ComponentNames): string {
  const sorted = (list: readonly string[]) => [...new Set(list)].sort();
  return JSON.stringify([
    sorted(names.sources),
    sorted(names.transforms),
    sorted(names.sinks),
    sorted(names.enrichmentTables),
  ]);
}
