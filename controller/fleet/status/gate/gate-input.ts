/** What a gate is derived from. */
import type { Condition } from '../../../../schemas/api/common.ts';
import type {
  Draining,
  NodeHealth,
  NodePipelineStatus,
  Refusal,
} from '../../../../schemas/api/pipelines/on-nodes.ts';
import type { GateRollout } from './gate-rollout.ts';

export interface GateNode {
  nodeName: string;
  status: NodePipelineStatus;
  version: number | null;
  /** The version that it should run; null for none. */
  desired: number | null;
  /** Whether it is a canary node of the active rollout. */
  canary: boolean;
  health: NodeHealth;
  lastError: string | null;
  /** The failing part of a running engine. */
  degraded: string | null;
  draining: Draining | null;
  since: Date | null;
  /** Set if the intended version does not run on this node. */
  refused: Refusal | null;
}

export interface GateInput {
  managedBy: 'ui' | 'git';
  isDraft: boolean;
  /** Null for a pipeline that git does not own. */
  manifest: {
    seenCommit: string | null;
    appliedCommit: string | null;
    /** The spec in git equals the applied one. */
    upToDate: boolean;
    applied: Condition | null;
    /** The manifest was removed from git, and the object is retained. */
    removed: boolean;
    /** Null if the manifest has no error. */
    problem: string | null;
  } | null;
  deployed: { version: number; commit: string | null; at: Date | null } | null;
  /** The active rollout. */
  rollout: GateRollout | null;
  latestVersion: number | null;
  /** The nodes that should run it. */
  nodes: readonly GateNode[];
}

export const isSilent = ({ health }: GateNode): boolean => health === 'UNREACHABLE' || health === 'UNKNOWN';

/**
 * Names of nodes that should run the deployed version, do not respond, and were not seen running it. Rollouts do not wait for
 * them.
 */
export function silentNodes({ isDraft, deployed, rollout, nodes }: GateInput): string[] {
  if (isDraft || rollout || !deployed) return [];
  return nodes
    .filter((node) => isSilent(node) && !(node.version === deployed.version && node.status === 'RUNNING'))
    .map(({ nodeName }) => nodeName);
}

/** The version that a rollout rolled back from its canary nodes while git's spec is held; null if there is none. */
export function rolledBackFrom({ manifest, deployed, rollout, latestVersion }: GateInput): number | null {
  if (rollout || !deployed || manifest?.applied?.reason !== 'Held') return null;
  return latestVersion === deployed.version ? null : latestVersion;
}
