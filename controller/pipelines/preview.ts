/** deploy.preview: what would be shipped, whether it is sound, and what changes. */
import { createTwoFilesPatch } from 'diff';
import type { DeployPreview } from '../../schemas/api/pipelines.ts';
import type { Context } from '../platform/context.ts';
import { findVersion, latestVersion, type PipelineRecord } from './store.ts';
import { validateGraph } from './validation.ts';

/** `shown` is what of a config the reader may see. */
export async function previewDeploy(
  ctx: Context,
  pipeline: PipelineRecord,
  shown: (configYaml: string) => string,
): Promise<DeployPreview> {
  const [validity, deployed, latest] = await Promise.all([
    validateGraph(ctx, pipeline.environmentId, pipeline),
    pipeline.deployedVersionId ? findVersion(ctx.db, pipeline.deployedVersionId) : null,
    latestVersion(ctx.db, pipeline.id),
  ]);
  const { configYaml } = validity;
  const before = deployed?.configYaml ?? '';
  return {
    configYaml: shown(configYaml),
    deployedYaml: deployed && shown(deployed.configYaml),
    hasChanges: before !== configYaml,
    diff: unifiedDiff('deployed', 'new', shown(before), shown(configYaml)),
    valid: validity.errors.length === 0,
    validationErrors: validity.errors,
    levels: validity.levels,
    nextVersion: (latest?.version ?? 0) + 1,
  };
}

/** Empty where the texts are equal. */
export const unifiedDiff = (from: string, to: string, before: string, after: string): string =>
  before === after ? '' : createTwoFilesPatch(from, to, before, after, '', '', { context: 3 });
