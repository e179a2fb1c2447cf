/**
 * Creates versions: by a deploy, from an engine config, or by a rollback to an earlier one. Versions are numbered and
 * immutable.
 */
import type { Static } from 'typebox';
import { OrGit } from '../../../schemas/api/delivery/git-words.ts';
import {
  Deployed,
  DeployPipeline,
  Retried,
  RetryVersion,
  Undeployed,
  UndeployPipeline,
} from '../../../schemas/api/pipelines/deployments.ts';
import { CreateVersion, RollbackPipeline } from '../../../schemas/api/pipelines/versions.ts';
import { ROLLED_BACK_JOB } from '../../delivery/ownership/index.ts';
import { assertNoRollout } from '../../delivery/rollouts/index.ts';
import { objectScope } from '../../identity/access/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { Context } from '../../platform/operation/context.ts';
import { conflict, notFound } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { graphOfConfig } from '../graph/engine-yaml.ts';
import { getPipeline, lockPipeline, lockPipelineHolding, renderStored } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChange } from '../lifecycle/publish-change.ts';
import { updatePipeline } from '../lifecycle/store.ts';
import { findVersionContent } from '../lifecycle/versions-store.ts';
import { withLiveLinks } from '../shared-components/links.ts';
import {
  addVersion,
  assertDeployable,
  getEditable,
  rollBackActiveRollout,
  saveVersion,
} from '../versions/create-version.ts';
import { deleteReverts } from '../versions/reverts-store.ts';
import { lockVariables } from './missing-variables.ts';
import { undeployPipeline } from './undeploy-pipeline.ts';

const answer = (version: { id: string; number: number }): Static<typeof Deployed> => ({
  success: true,
  versionId: version.id,
  versionNumber: version.number,
});

export const deployAgent = mutation({
  name: 'deploy.agent',
  summary: 'Check a pipeline, create a version of it and deploy that version',
  role: 'EDITOR',
  permission: 'pipelines.deploy',
  audit: 'pipeline.deployed',
  input: DeployPipeline,
  output: OrGit(Deployed),
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async prepare(ctx, { pipelineId }) {
    const pipeline = await getEditable(ctx, pipelineId);
    return assertDeployable(ctx, pipeline.environmentId, pipeline);
  },
  async run(ctx, { pipelineId, changelog, supersede = false }, configYaml) {
    const pipeline = await lockPipeline(ctx, pipelineId);
    if (renderStored(pipeline) !== configYaml)
      throw conflict('The pipeline was changed while it was being checked; deploy it again');
    const active = await assertNoRollout(ctx, pipelineId, supersede);
    await lockVariables(ctx, pipeline.environmentId, [configYaml]);
    const version = await addVersion(ctx, pipeline, pipeline, { configYaml, changelog });
    if (active) await rollBackActiveRollout(ctx, pipeline, `Superseded by version ${version.number}`);
    await updatePipeline(ctx.db, pipelineId, {
      isDraft: false,
      latestVersionId: version.id,
      deployedVersionId: version.id,
      deployedAt: new Date(ctx.clock.now()),
    });
    const metadata = { name: pipeline.name, version: version.number, changelog };
    await publishPipelineChange(ctx, pipeline, { reason: 'deployed', served: true, metadata });
    return answer(version);
  },
});

export const undeploy = mutation({
  name: 'deploy.undeploy',
  summary: 'Remove a pipeline from its nodes; it becomes a draft again',
  role: 'EDITOR',
  permission: 'pipelines.deploy',
  audit: 'pipeline.undeployed',
  input: UndeployPipeline,
  output: OrGit(Undeployed),
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, hold = false, reason = 'Undeployed by hand' }) {
    const pipeline = hold
      ? (await lockPipelineHolding(ctx, pipelineId, reason)).pipeline
      : await lockPipeline(ctx, pipelineId);
    const { name, isDraft } = pipeline;
    // Idempotent: a repeated request finds the pipeline undeployed.
    if (isDraft) {
      ctx.audit({ entityType: 'Pipeline', entityId: pipelineId, metadata: { name, changed: false } });
      return { success: true };
    }
    await undeployPipeline(ctx, pipeline);
    return { success: true };
  },
});

export const retryVersion = mutation({
  name: 'deploy.retryVersion',
  summary: 'Retry a version on the nodes where it was reverted, on all or on one',
  role: 'EDITOR',
  permission: 'pipelines.deploy',
  audit: 'pipeline.versionRetried',
  input: RetryVersion,
  output: Retried,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, nodeId = null }) {
    const { name, environmentId } = await getPipeline(ctx, pipelineId);
    const nodeIds = await deleteReverts(ctx.db, pipelineId, nodeId);
    ctx.audit({
      entityType: 'Pipeline',
      entityId: pipelineId,
      environmentId,
      metadata: { name, nodes: nodeIds.length, ...(nodeId === null ? {} : { nodeId }) },
    });
    if (nodeIds.length === 0) return { success: true as const, nodes: 0 };
    await ctx.services.bus.publish(ctx.db, [
      { type: 'reverts', environmentId },
      ...nodeIds.map((id) => ({ type: 'node' as const, nodeId: id, environmentId })),
      { type: 'ui', environmentId, topics: ['pipelines', 'fleet', 'rollouts'] },
    ]);
    return { success: true as const, nodes: nodeIds.length };
  },
});

export const createVersion = mutation({
  name: 'pipeline.createVersion',
  summary: 'Create a version from an engine config in YAML, without deploying it',
  role: 'EDITOR',
  permission: 'pipelines.edit',
  audit: 'pipeline.versionCreated',
  input: CreateVersion,
  output: OrGit(Deployed),
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, configYaml, changelog }) {
    const pipeline = await lockPipeline(ctx, pipelineId);
    const graph = graphOfConfig(configYaml, pipeline);
    return answer(await saveVersion(ctx, pipeline, graph, { changelog: changelog ?? null }));
  },
});

async function getVersionContent(ctx: Pick<Context, 'db'>, pipelineId: string, versionId: string) {
  const version = await findVersionContent(ctx.db, versionId);
  if (version?.pipelineId !== pipelineId) throw notFound('Version');
  return version;
}

export const rollback = mutation({
  name: 'pipeline.rollback',
  summary:
    'Create a new version with the content of an earlier one; a deployed pipeline runs it, a draft stays a draft',
  role: 'EDITOR',
  permission: 'pipelines.deploy',
  audit: 'pipeline.rolledBack',
  input: RollbackPipeline,
  output: Deployed,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async prepare(ctx, { pipelineId, targetVersionId }) {
    const pipeline = await getPipeline(ctx, pipelineId);
    const target = await getVersionContent(ctx, pipelineId, targetVersionId);
    // A version that was valid then may lack a secret now.
    if (!pipeline.isDraft) await assertDeployable(ctx, pipeline.environmentId, target);
    return pipeline.isDraft;
  },
  async run(ctx, { pipelineId, targetVersionId }, wasDraft) {
    const content = await getVersionContent(ctx, pipelineId, targetVersionId);
    const why = `Rolled back to version ${content.version}`;
    const { pipeline, held } = await lockPipelineHolding(ctx, pipelineId, why);
    if (wasDraft && !pipeline.isDraft)
      throw conflict('The pipeline was deployed while it was being rolled back; try again');
    const target = {
      ...content,
      nodes: await withLiveLinks(ctx.db, pipeline.environmentId, content.nodes),
    };
    const served = !pipeline.isDraft;
    if (served) await lockVariables(ctx, pipeline.environmentId, [target.configYaml]);
    const changelog = `Rollback to version ${target.version}`;
    const version = await addVersion(ctx, pipeline, target, { configYaml: target.configYaml, changelog });
    await rollBackActiveRollout(ctx, pipeline, why);
    await updatePipeline(ctx.db, pipelineId, {
      nodes: target.nodes,
      edges: target.edges,
      globalConfig: target.globalConfig,
      logLevel: target.logLevel,
      drainSeconds: target.drainSeconds,
      nodeSelector: target.nodeSelector,
      latestVersionId: version.id,
      ...(served ? { deployedVersionId: version.id, deployedAt: new Date(ctx.clock.now()) } : {}),
    });
    const metadata = { name: pipeline.name, version: version.number, target: target.version };
    await publishPipelineChange(ctx, pipeline, { reason: 'rolled back', served, metadata });
    if (held) {
      const { environmentId } = pipeline;
      const payload = { environmentId, pipelineId, reason: `${why} by ${nameOfActor(ctx.actor)}` };
      await ctx.services.jobs.add(ctx.db, ROLLED_BACK_JOB, payload, {
        key: `${ROLLED_BACK_JOB}:${pipelineId}`,
      });
    }
    return answer(version);
  },
});
