import type { MutationContext } from '../../platform/operation/context.ts';
import { publishPipelineChange } from '../lifecycle/publish-change.ts';
import { type PipelineRecord, updatePipeline } from '../lifecycle/store.ts';
import { rollBackActiveRollout } from '../versions/create-version.ts';

/** Removes a pipeline from its nodes: it becomes a draft again. Its row must be locked. */
export async function undeployPipeline(
  ctx: MutationContext,
  pipeline: PipelineRecord,
  action?: string,
): Promise<void> {
  await rollBackActiveRollout(ctx, pipeline, 'The pipeline was undeployed');
  await updatePipeline(ctx.db, pipeline.id, { isDraft: true, deployedVersionId: null, deployedAt: null });
  await publishPipelineChange(ctx, pipeline, {
    ...{ reason: 'undeployed', served: true, ...(action ? { action } : {}) },
    metadata: { name: pipeline.name },
  });
}
