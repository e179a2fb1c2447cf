/** Which events a silence mutes, for the controller and for what the UI shows beforehand. Pure. */
import type { LabelMap } from '../api/common.ts';

/** What of an event can be matched beside the labels of its node. */
export interface MatchedEvent {
  rule: string;
  metric: string;
  node: { name: string; labels: LabelMap; maintenance: boolean } | null;
  pipeline: { name: string } | null;
}

export interface ActiveSilence {
  id: string;
  matchers: LabelMap;
}

export const MAINTENANCE = 'maintenance';

/** Null where it is not muted. Maintenance comes first: it ends by itself with the node's. */
export function mutedBy(event: MatchedEvent, silences: readonly ActiveSilence[]): string | null {
  if (event.node?.maintenance) return MAINTENANCE;
  return silences.find(({ matchers }) => isMatched(event, matchers))?.id ?? null;
}

/** Every label of the silence must have its value; `*` at the end of one stands for any further text. */
export function isMatched(event: MatchedEvent, matchers: LabelMap): boolean {
  return Object.entries(matchers).every(([label, wanted]) => {
    const value = labelValue(event, label);
    if (value === undefined) return false;
    return wanted.endsWith('*') ? value.startsWith(wanted.slice(0, -1)) : value === wanted;
  });
}

function labelValue({ rule, metric, node, pipeline }: MatchedEvent, label: string): string | undefined {
  switch (label) {
    case 'rule':
      return rule;
    case 'metric':
      return metric;
    case 'node':
      return node?.name;
    case 'pipeline':
      return pipeline?.name;
    default:
      return node && Object.hasOwn(node.labels, label) ? node.labels[label] : undefined;
  }
}
