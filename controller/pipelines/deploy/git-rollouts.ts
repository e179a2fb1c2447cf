/**
 * What git's versions do to rollouts: whether a version goes to all nodes at once or to canary nodes first, what becomes of
 * a rollout that is active. Decided for each manifest of a batch, written for all together.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { parse } from 'yaml';
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import { continueRollouts, endActive, startRollouts } from '../../delivery/rollouts/index.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { type DeployedVersions, readServed, type VersionServed } from '../lifecycle/store.ts';

export interface Staged {
  /** The version that all nodes run, or those that are no canary nodes; null for none. */
  runs: string | null;
  /** The version is that of a rollout. */
  canary: boolean;
  /** Whether a rollout begins, ends or changes: nodes may be served something else. */
  changes: boolean;
}

export interface Deciding {
  pipelineId: string;
  spec: PipelineSpec;
  /** What git says now. */
  version: { id: string; version: number };
  served: VersionServed;
  /** The version that is deployed. */
  ran: string | null;
  /** Of the rollout that is active. */
  canary: DeployedVersions['canary'];
  servedBy: ReadonlyMap<string, VersionServed>;
}

/** The database keeps the keys of objects in an order of its own, so texts may differ. */
export const servesTheSame = (one: VersionServed, other: VersionServed): boolean =>
  one.logLevel === other.logLevel &&
  one.drainSeconds === other.drainSeconds &&
  isDeepStrictEqual(one.nodeSelector, other.nodeSelector) &&
  (one.configYaml === other.configYaml || isDeepStrictEqual(parse(one.configYaml), parse(other.configYaml)));

/** What nodes get of the versions that decide; asks nothing where there is neither a rollout nor a wish for one. */
export async function servedByStages(
  db: Knex,
  items: readonly { spec: PipelineSpec }[],
  rows: readonly ({ id: string } | null)[],
  standings: ReadonlyMap<string, DeployedVersions>,
): Promise<ReadonlyMap<string, VersionServed>> {
  const ids = items.flatMap(({ spec }, index) => {
    const standing = standings.get(rows[index]?.id ?? '');
    if (!standing || !(spec.rollout || standing.canary)) return [];
    return [standing.deployedVersionId, standing.canary?.versionId].filter((id) => id != null);
  });
  return readServed(db, ids);
}

export function stagesOf(commit: { sha: string; subject: string }) {
  const begun: Parameters<typeof startRollouts>[2][number][] = [];
  const ended: Parameters<typeof endActive>[2][number][] = [];
  const carried: Parameters<typeof continueRollouts>[2][number][] = [];

  function decide({ pipelineId, spec, version, served, ran, canary, servedBy }: Deciding): Staged {
    const is = (id: string | null | undefined) => {
      const known = id == null ? undefined : servedBy.get(id);
      return known !== undefined && servesTheSame(known, served);
    };
    const end = (status: 'BROADENED' | 'ROLLED_BACK', reason: string) => {
      if (canary) ended.push({ pipelineId, status, reason });
    };
    const toAll = { runs: version.id, canary: false, changes: canary !== null };
    if (!spec.deployed) {
      end('ROLLED_BACK', 'Git says deployed: false');
      return { ...toAll, runs: null };
    }
    if (!spec.rollout) {
      if (is(canary?.versionId)) end('BROADENED', 'Git has no rollout section any more');
      else end('ROLLED_BACK', `Superseded by version ${version.version}, which has no rollout section`);
      return toAll;
    }
    // Also where labels or the section itself are all that is new: there is nothing to be tried.
    if (is(ran)) {
      end('ROLLED_BACK', 'Git went back to what the other nodes run');
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
    if (is(canary?.versionId)) carried.push(rollout);
    else {
      end('ROLLED_BACK', `Superseded by version ${version.version}`);
      begun.push({ ...rollout, previousVersionId: ran, source: 'git' });
    }
    return { runs: ran, canary: true, changes: true };
  }

  return {
    decide,
    /** After the versions were written. */
    async write(ctx: MutationContext, environmentId: string): Promise<void> {
      await endActive(ctx, environmentId, ended);
      await continueRollouts(ctx, environmentId, carried);
      await startRollouts(ctx, environmentId, begun);
    },
  };
}
