/**
 * The operations by which git changes pipelines, each one transaction with its audit rows, and each idempotent. Nothing else
 * writes a pipeline that git owns.
 */
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import {
  Converged,
  convergeInput,
  lockClaimed,
  outcomeOf,
  pruneOperation,
  writeOwned,
} from '../../delivery/ownership/index.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { compile } from '../definition/compile.ts';
import type { Definition } from '../definition/definition.ts';
import { planRollouts, readRolloutVersions, servesTheSame } from '../deploy/git-rollouts.ts';
import { lockVariables } from '../deploy/missing-variables.ts';
import { assertNoCycles, lockOrder } from '../order/index.ts';
import { rollBackActiveRollout } from '../versions/create-version.ts';
import { type DeployedVersions, readDeployedVersions } from './deployed-store.ts';
import { publishPipelineChanges } from './publish-change.ts';
import { PIPELINE_COLUMNS, pipelineColumns } from './store.ts';
import { insertVersions, type NewVersion, stampVersion } from './versions-store.ts';

export const convergePipelines = mutation({
  name: 'pipeline.converge',
  summary: 'Apply the manifests of pipelines',
  role: 'EDITOR',
  audit: 'pipeline.converged',
  input: convergeInput<PipelineSpec>(),
  output: Converged,
  scope: (_ctx, input) => ({ teamId: null, environmentId: input.environmentId }),
  async run(ctx, { environmentId, commit, items }) {
    const hasDependencies = items.some(({ spec }) => spec.dependsOn.length > 0);
    // Locked before any pipeline, like in all other code that changes the order.
    if (hasDependencies) await lockOrder(ctx.db, environmentId);
    const rows = await lockClaimed(ctx.db, 'pipelines', environmentId, items);
    const current = await readDeployedVersions(
      ctx.db,
      rows.flatMap((row) => row?.id ?? []),
    );
    const comparedVersions = await readRolloutVersions(ctx.db, items, rows, current);
    const now = new Date(ctx.clock.now());
    const rollouts = planRollouts(commit);
    const versions: NewVersion[] = [];
    /** Versions created by hand before git adopted the pipeline, with the hash of the equal manifest. */
    const stamped: { id: string; specHash: string }[] = [];
    const deployedConfigs: string[] = [];
    /** Whether the change affects what nodes are served. */
    let served = false;
    const done = items.map((item, index) => {
      const row = rows[index] ?? null;
      const { spec } = item;
      const compiled = compile(spec as Definition);
      const pipelineId = row?.id ?? newId();
      const versionsNow = row ? current.get(row.id) : undefined;
      const write = {
        description: spec.description ?? null,
        nodeSelector: spec.nodeSelector ?? null,
        logLevel: spec.logLevel,
        drainSeconds: spec.drainSeconds ?? null,
        nodes: compiled.nodes,
        edges: compiled.edges,
        globalConfig: spec.global,
        dependsOn: spec.dependsOn,
      };
      const latest = versionsNow?.latest ?? null;
      const adopted =
        row?.managedBy === 'ui' &&
        latest?.specHash === null &&
        servesTheSameAs(latest, spec, compiled.configYaml);
      let version: { id: string; version: number };
      if (latest && (adopted || latest.specHash === item.specHash)) {
        version = latest;
        if (adopted) stamped.push({ id: latest.id, specHash: item.specHash });
      } else {
        version = { id: newId(), version: (latest?.version ?? 0) + 1 };
        versions.push({
          ...write,
          ...version,
          specHash: item.specHash,
          pipelineId,
          configYaml: compiled.configYaml,
          changelog: commit.subject,
          source: 'git',
          createdById: null,
          commit: { sha: commit.sha, author: commit.author, message: commit.message, path: item.path },
        });
      }
      const previousVersionId = versionsNow?.deployedVersionId ?? null;
      const decision = rollouts.decide({
        ...{ pipelineId, spec, version, previousVersionId },
        canary: versionsNow?.canary ?? null,
        served: {
          configYaml: compiled.configYaml,
          logLevel: spec.logLevel,
          drainSeconds: write.drainSeconds,
          nodeSelector: write.nodeSelector,
        },
        servedBy: comparedVersions,
      });
      const { deployedVersionId } = decision;
      if (spec.deployed) deployedConfigs.push(compiled.configYaml);
      const renamed = row !== null && row.name !== item.name;
      if (deployedVersionId !== previousVersionId || decision.changes || (spec.deployed && renamed))
        served = true;
      const outcome = outcomeOf(row);
      ctx.audit({
        action: `pipeline.${outcome}`,
        entityType: 'Pipeline',
        entityId: pipelineId,
        environmentId,
        diff: {
          version: [versionsNow?.latest?.version ?? null, version.version],
          deployed: [previousVersionId !== null, spec.deployed],
          ...(renamed ? { name: [row.name, item.name] } : {}),
        },
        metadata: { name: item.name, path: item.path, ...(decision.canary ? { canary: true } : {}) },
      });
      return {
        answer: { objectId: pipelineId, outcome, version: version.version, canary: decision.canary },
        write: {
          row,
          newId: pipelineId,
          name: item.name,
          uid: item.uid,
          labels: item.labels,
          specHash: item.specHash,
          columns: {
            ...pipelineColumns(write),
            auto_revert: spec.autoRevert ?? null,
            is_draft: !spec.deployed,
            latest_version_id: version.id,
            deployed_version_id: deployedVersionId,
            deployed_at:
              deployedVersionId !== null && deployedVersionId === previousVersionId
                ? (versionsNow?.deployedAt ?? now)
                : deployedVersionId && now,
          },
        },
      };
    });
    await lockVariables(ctx, environmentId, deployedConfigs);
    await writeOwned(
      ctx.db,
      'pipelines',
      environmentId,
      PIPELINE_COLUMNS,
      done.map(({ write }) => write),
    );
    if (hasDependencies)
      await assertNoCycles(
        ctx,
        environmentId,
        done.flatMap(({ answer }, index) => (items[index]?.spec.dependsOn.length ? answer.objectId : [])),
      );
    if (versions.length > 0) await insertVersions(ctx.db, versions);
    for (const { id, specHash } of stamped) await stampVersion(ctx.db, id, specHash);
    await rollouts.write(ctx, environmentId);
    const only = done.length === 1 ? done[0]?.answer.objectId : undefined;
    await publishPipelineChanges(ctx, environmentId, { pipelineId: only, reason: 'git', served });
    return done.map(({ answer }) => answer);
  },
});

/** Whether nodes would be served exactly the same. */
function servesTheSameAs(
  version: NonNullable<DeployedVersions['latest']>,
  { logLevel, drainSeconds, nodeSelector }: PipelineSpec,
  configYaml: string,
): boolean {
  return (
    version.configYaml !== null &&
    servesTheSame(
      { ...version, configYaml: version.configYaml },
      { configYaml, logLevel, drainSeconds: drainSeconds ?? null, nodeSelector: nodeSelector ?? null },
    )
  );
}

export const prunePipeline = pruneOperation({
  name: 'pipeline.prune',
  audit: 'pipeline.pruned',
  entityType: 'Pipeline',
  table: 'pipelines',
  columns: { is_draft: true, deployed_version_id: null, deployed_at: null },
  async changed(ctx, environmentId, pipelineId) {
    await rollBackActiveRollout(ctx, { id: pipelineId, environmentId }, 'Its manifest is gone from git');
    await publishPipelineChanges(ctx, environmentId, { pipelineId, reason: 'pruned', served: true });
  },
});
