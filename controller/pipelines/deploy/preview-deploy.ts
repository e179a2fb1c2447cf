/** deploy.preview: the config that a deploy would serve, its checks, and the difference from the deployed one. */
import type { DeployPreview } from '../../../schemas/api/pipelines/deployments.ts';
import type { Context } from '../../platform/operation/context.ts';
import { maskSensitiveIn, maskYaml } from '../definition/mask.ts';
import { validateGraph } from '../graph/validate-graph.ts';
import { renderStored } from '../lifecycle/lock-pipeline.ts';
import type { PipelineRecord } from '../lifecycle/store.ts';
import { findLatestVersion, findVersionContent } from '../lifecycle/versions-store.ts';
import { unifiedDiff } from '../versions/unified-diff.ts';

/** `all` is true if the reader may see credentials. */
export async function previewDeploy(
  ctx: Context,
  pipeline: PipelineRecord,
  all: boolean,
): Promise<DeployPreview> {
  const present = all ? (text: string) => text : maskYaml;
  const [validity, deployed, latest] = await Promise.all([
    validateGraph(ctx, pipeline.environmentId, pipeline),
    pipeline.deployedVersionId ? findVersionContent(ctx.db, pipeline.deployedVersionId) : null,
    findLatestVersion(ctx.db, pipeline.id),
  ]);
  const { configYaml } = validity;
  const before = deployed ? renderStored(deployed) : '';
  return {
    configYaml: present(configYaml),
    deployedYaml: deployed && present(before),
    hasChanges: before !== configYaml,
    diff: unifiedDiff('deployed', 'new', present(before), present(configYaml)),
    valid: validity.errors.length === 0,
    validationErrors: all
      ? validity.errors
      : validity.errors.map((error) => ({
          ...error,
          message: maskSensitiveIn([pipeline.nodes, pipeline.globalConfig], error.message),
        })),
    levels: validity.levels,
    warnings: validity.warnings,
    nextVersion: (latest?.version ?? 0) + 1,
  };
}
