/** Which nodes run a pipeline, and which version each gets: the one rule behind config, plan, status and metrics. */
import type { LabelMap } from '../../schemas/api/common.ts';

/** A node matches when it carries every pair; no selector matches every node. */
export function matchesSelector(selector: LabelMap | null, labels: LabelMap): boolean {
  if (selector === null) return true;
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

export interface Deployable {
  isDraft: boolean;
  deployedVersionId: string | null;
  nodeSelector: LabelMap | null;
}
export interface Target {
  labels: LabelMap;
  maintenance: boolean;
}

/** The version that the node should run; null for none. */
export function versionForNode(pipeline: Deployable, node: Target): string | null {
  if (pipeline.isDraft || pipeline.deployedVersionId === null || node.maintenance) return null;
  return matchesSelector(pipeline.nodeSelector, node.labels) ? pipeline.deployedVersionId : null;
}
