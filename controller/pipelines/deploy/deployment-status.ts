/** The state of a deployment: one version on its way to the nodes, identified by the id of the version. */
import { Deployment, DeploymentId } from '../../../schemas/api/pipelines/deployments.ts';
import { readStatus } from '../../fleet/status/index.ts';
import { objectScope } from '../../identity/access/index.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { query } from '../../platform/operation/operation.ts';
import { findPipeline } from '../lifecycle/store.ts';
import { findVersion } from '../lifecycle/versions-store.ts';

export const deployment = query({
  name: 'pipeline.deployment',
  summary: 'State of the deployment of a version: in progress, succeeded, failed, superseded or undeployed',
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: DeploymentId,
  output: Deployment,
  scope: (ctx, input) => objectScope(ctx, 'Version', input.versionId),
  async run(ctx, { versionId }) {
    const version = await findVersion(ctx.db, versionId);
    const record = version && (await findPipeline(ctx.db, version.pipelineId));
    if (!version || !record) throw notFound('Version');
    const { pipelines } = await readStatus(ctx, {
      environmentId: record.environmentId,
      pipelineId: record.id,
    });
    const status = pipelines[0];
    if (!status) throw notFound('Version');
    const answer = {
      id: versionId,
      pipelineId: record.id,
      versionNumber: version.version,
      deployedVersionNumber: status.pipeline.deployedVersion,
      nodeCounts: status.counts,
    };
    const { deployedVersionId, isDraft } = record;
    if (isDraft)
      return {
        ...answer,
        state: 'UNDEPLOYED' as const,
        reason: 'The pipeline is a draft, which runs nowhere',
      };
    // During a rollout, canary nodes run a version that is not the deployed one.
    const isCanary = status.onNodes.some(({ desiredVersion }) => desiredVersion === version.version);
    if (deployedVersionId !== versionId && !isCanary)
      return {
        ...answer,
        state: 'SUPERSEDED' as const,
        reason: `Version ${status.pipeline.deployedVersion} is deployed`,
      };
    const running = status.gate.find(({ point }) => point === 'running');
    const reason = running?.reason ?? '';
    if (running?.state === 'failed') return { ...answer, state: 'FAILED' as const, reason };
    const isDone = running?.state === 'done' && running.version === version.version;
    return { ...answer, state: isDone ? ('SUCCEEDED' as const) : ('IN_PROGRESS' as const), reason };
  },
});
