/**
 * Decides which nodes run a pipeline and which version each gets. Config, plan, drift, status and metrics all use this rule.
 */
import type { LabelMap } from '../../../schemas/api/common.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';

/** The canary of a rollout: some nodes get the version before the others. */
export interface Canary {
  versionId: string;
  /** Selector of that version: a canary node outside of it runs nothing. */
  nodeSelector: LabelMap | null;
  /** Which nodes are canary nodes. */
  canarySelector: LabelMap;
}
export interface Deployable {
  isDraft: boolean;
  /** The version of all nodes that are not canary nodes; null if nothing was deployed before. */
  deployedVersionId: string | null;
  /** Selector of the deployed version, not of the edited definition. */
  deployedSelector: LabelMap | null;
  /** Null unless a rollout is active. */
  rollout: Canary | null;
}
export interface Target {
  labels: LabelMap;
  maintenance: boolean;
}

/** A node that is served the previous version, since the newer one does not run there. */
export interface Reverted {
  refusedVersionId: string;
  servedVersionId: string;
}

/**
 * The version that the node gets after a revert: the previous one instead of the refused one. Any other version is served
 * unchanged.
 */
export const afterRevert = (versionId: string, reverted: Reverted | undefined): string =>
  reverted?.refusedVersionId === versionId ? reverted.servedVersionId : versionId;

/** Whether a node with these labels is a canary node; false without an active rollout. */
export const isCanary = ({ rollout }: Pick<Deployable, 'rollout'>, labels: LabelMap): boolean =>
  rollout !== null && matchesSelector(rollout.canarySelector, labels);

/** The side of a rollout that a node with these labels is on, regardless of maintenance; null if it gets neither version. */
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
