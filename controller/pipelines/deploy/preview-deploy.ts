/** deploy.preview: what would be shipped, whether it is sound, and what changes. */
import type { DeployPreview } from '../../../schemas/api/pipelines.ts';
import type { Context } from '../../platform/operation/context.ts';
import { maskYaml, withoutSensitive } from '../definition/mask.ts';
import { validateGraph } from '../graph/validate-graph.ts';
import { renderStored } from '../lifecycle/lock-pipeline.ts';
import { findVersionContent, latestVersion, type PipelineRecord } from '../lifecycle/store.ts';
import { unifiedDiff } from '../versions/unified-diff.ts';

/** `all` tells whether the reader may see credentials. */
export async function previewDeploy(
  ctx: Context,
  pipeline: PipelineRecord,
  all: boolean,
): Promise<DeployPreview> {
  const shown = all ? (text: string) => text : maskYaml;
  const [validity, deployed, latest] = await Promise.all([
    validateGraph(ctx, pipeline.environmentId, pipeline),
    pipeline.deployedVersionId ? findVersionContent(ctx.db, pipeline.deployedVersionId) : null,
    latestVersion(ctx.db, pipeline.id),
  ]);
  const { configYaml } = validity;
  const before = deployed ? renderStored(deployed) : '';
  return {
    configYaml: shown(configYaml),
    deployedYaml: deployed && shown(before),
    hasChanges: before !== configYaml,
    diff: unifiedDiff('deployed', 'new', shown(before), shown(configYaml)),
    valid: validity.errors.length === 0,
    validationErrors: all
      ? validity.errors
      : validity.errors.map((error) => ({
          ...error,
          message: withoutSensitive([pipeline.nodes, pipeline.globalConfig], error.message),
        })),
    levels: validity.levels,
    warnings: validity.warnings,
    nextVersion: (latest?.version ?? 0) + 1,
  };
}
