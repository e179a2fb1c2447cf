/** Which nodes run a pipeline, and which version each gets: the one rule behind config, plan, drift, status and metrics. */
import type { LabelMap } from '../../../schemas/api/common.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';

/** While some nodes have a version before the others get it. */
export interface Canary {
  versionId: string;
  /** Of that version: outside of it no canary node runs anything. */
  nodeSelector: LabelMap | null;
  /** Which nodes are canary nodes. */
  canarySelector: LabelMap;
}
export interface Deployable {
  isDraft: boolean;
  /** What all nodes run, or those that are no canary nodes; null where nothing was deployed before. */
  deployedVersionId: string | null;
  /** Of the deployed version, not of what is edited. */
  deployedSelector: LabelMap | null;
  /** Null unless a rollout is active. */
  rollout: Canary | null;
}
export interface Target {
  labels: LabelMap;
  maintenance: boolean;
}

/** A node that is served the version before, since the newer one did not run there. */
export interface Reverted {
  refusedVersionId: string;
  servedVersionId: string;
}

/** What the node gets where that version did not run there: the one before. Any other version is served as it is. */
export const afterRevert = (versionId: string, reverted: Reverted | undefined): string =>
  reverted?.refusedVersionId === versionId ? reverted.servedVersionId : versionId;

/** Whether a node with these labels is on the side of the canary; false without an active rollout. */
export const isCanary = ({ rollout }: Pick<Deployable, 'rollout'>, labels: LabelMap): boolean =>
  rollout !== null && matchesSelector(rollout.canarySelector, labels);

/**
 * The side of a rollout that a node with these labels is on, in maintenance or not; null where it gets neither version.
 */
export function stageOfNode(
  rollout: {
    canarySelector: LabelMap;
    canaryNodeSelector: LabelMap | null;
    previousVersionId: string | null;
    previousNodeSelector: LabelMap | null;
  },
  labels: LabelMap,
): 'canary' | 'control' | null {
  const version = versionForNode(
    {
      isDraft: false,
      deployedVersionId: rollout.previousVersionId && 'control',
      deployedSelector: rollout.previousNodeSelector,
      rollout: {
        versionId: 'canary',
        nodeSelector: rollout.canaryNodeSelector,
        canarySelector: rollout.canarySelector,
      },
    },
    { labels, maintenance: false },
  );
  return version as 'canary' | 'control' | null;
}

/** The version that the node should run; null for none. */
export function versionForNode(pipeline: Deployable, { labels, maintenance }: Target): string | null {
  const { isDraft, deployedVersionId, deployedSelector, rollout } = pipeline;
  if (isDraft || maintenance) return null;
  if (rollout !== null && isCanary(pipeline, labels))
    return matchesSelector(rollout.nodeSelector, labels) ? rollout.versionId : null;
  if (deployedVersionId === null) return null;
  return matchesSelector(deployedSelector, labels) ? deployedVersionId : null;
}
