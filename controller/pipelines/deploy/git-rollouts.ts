/**
 * Decides how versions from git affect rollouts: whether a version goes to all nodes at once or to canary nodes first, and what
 * happens to an active rollout. Decided per manifest of a batch, written once for all.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { parse } from 'yaml';
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import { continueRollouts, endActive, startRollouts } from '../../delivery/rollouts/index.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import {
  type DeployedVersions,
  readServedVersions,
  type ServedVersion,
} from '../lifecycle/deployed-store.ts';

export interface RolloutDecision {
  /** The version of all nodes that are not canary nodes; null for none. */
  deployedVersionId: string | null;
  /** Whether the version belongs to a rollout. */
  canary: boolean;
  /** Whether a rollout starts, ends or changes, so that nodes may be served something else. */
  changes: boolean;
}

export interface RolloutInput {
  pipelineId: string;
  spec: PipelineSpec;
  /** The version of the current manifest. */
  version: { id: string; version: number };
  served: ServedVersion;
  /** The currently deployed version. */
  previousVersionId: string | null;
  /** The canary of the active rollout. */
  canary: DeployedVersions['canary'];
  servedBy: ReadonlyMap<string, ServedVersion>;
}

/** Whether nodes are served the same. jsonb reorders object keys, so configs are compared parsed. */
export const servesTheSame = (one: ServedVersion, other: ServedVersion): boolean =>
  one.logLevel === other.logLevel &&
  one.drainSeconds === other.drainSeconds &&
  isDeepStrictEqual(one.nodeSelector, other.nodeSelector) &&
  (one.configYaml === other.configYaml || isDeepStrictEqual(parse(one.configYaml), parse(other.configYaml)));

/**
 * Reads the served content of the versions to compare with. Reads nothing if there is neither an active rollout nor a rollout
 * section.
 */
export async function readRolloutVersions(
  db: Knex,
  items: readonly { spec: PipelineSpec }[],
  rows: readonly ({ id: string } | null)[],
  current: ReadonlyMap<string, DeployedVersions>,
): Promise<ReadonlyMap<string, ServedVersion>> {
  const ids = items.flatMap(({ spec }, index) => {
    const versions = current.get(rows[index]?.id ?? '');
    if (!versions || !(spec.rollout || versions.canary)) return [];
    return [versions.deployedVersionId, versions.canary?.versionId].filter((id) => id != null);
  });
  return readServedVersions(db, ids);
}

export function planRollouts(commit: { sha: string; subject: string }) {
  const started: Parameters<typeof startRollouts>[2][number][] = [];
  const ended: Parameters<typeof endActive>[2][number][] = [];
  const continued: Parameters<typeof continueRollouts>[2][number][] = [];

  function decide({
    pipelineId,
    spec,
    version,
    served,
    previousVersionId,
    canary,
    servedBy,
  }: RolloutInput): RolloutDecision {
    const isServedBy = (id: string | null | undefined) => {
      const known = id == null ? undefined : servedBy.get(id);
      return known !== undefined && servesTheSame(known, served);
    };
    const end = (status: 'BROADENED' | 'ROLLED_BACK', reason: string) => {
      if (canary) ended.push({ pipelineId, status, reason });
    };
    const toAll = { deployedVersionId: version.id, canary: false, changes: canary !== null };
    if (!spec.deployed) {
      end('ROLLED_BACK', 'The manifest sets deployed: false');
      return { ...toAll, deployedVersionId: null };
    }
    if (!spec.rollout) {
      if (isServedBy(canary?.versionId))
        end('BROADENED', 'The rollout section was removed from the manifest');
      else end('ROLLED_BACK', `Superseded by version ${version.version}, which has no rollout section`);
      return toAll;
    }
    // Also when only labels or the section itself changed: then there is nothing to roll out.
    if (isServedBy(previousVersionId)) {
      end('ROLLED_BACK', 'The manifest returned to the version that the other nodes run');
      return toAll;
    }
    const rollout = {
      pipelineId,
      canaryVersionId: version.id,
      canarySelector: spec.rollout.canarySelector,
      windowMinutes: spec.rollout.healthCheckWindowMinutes,
      onPass: spec.rollout.onPass ?? 'broaden',
      onFail: spec.rollout.onFail ?? 'rollback',
      changelog: commit.subject,
      commit: commit.sha,
    } as const;
    if (isServedBy(canary?.versionId)) continued.push(rollout);
    else {
      end('ROLLED_BACK', `Superseded by version ${version.version}`);
      started.push({ ...rollout, previousVersionId, source: 'git' });
    }
    return { deployedVersionId: previousVersionId, canary: true, changes: true };
  }

  return {
    decide,
    /** Must run after the versions are inserted. */
    async write(ctx: MutationContext, environmentId: string): Promise<void> {
      await endActive(ctx, environmentId, ended);
      await continueRollouts(ctx, environmentId, continued);
      await startRollouts(ctx, environmentId, started);
    },
  };
}
