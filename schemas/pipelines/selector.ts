/** Which nodes a selector means: one rule for what is served and for what the UI foretells. */
import type { LabelMap } from '../api/common.ts';

/** A node matches when it carries every pair; no selector matches every node. */
export function matchesSelector(selector: LabelMap | null, labels: LabelMap): boolean {
  if (selector === null) return true;
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** As people write one: `region=eu, role=edge`, in the order of the keys. */
export const selectorText = (selector: LabelMap): string =>
  Object.entries(selector)
    .map((pair) => pair.join('='))
    .sort()
    .join(', ');
