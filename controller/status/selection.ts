/** Which nodes run a pipeline, and which version each gets: the one rule behind config, plan, status and metrics. */
import type { LabelMap } from '../../schemas/api/common.ts';
import { matchesSelector } from '../../schemas/pipelines/selector.ts';

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
