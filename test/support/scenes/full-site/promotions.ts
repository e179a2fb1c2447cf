/** Something to review: a promotion into an environment that follows git, with a word to it. */

import type { Static } from 'typebox';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { InitiatedPromotion } from '../../../../schemas/api/delivery/promotions.ts';
import { namedPipeline } from '../../fixtures/pipelines.ts';

export async function fillPromotions(
  api: ApiClient,
  environments: { staging: string; production: string },
): Promise<void> {
  const { id: pipelineId } = await namedPipeline(api, environments.staging, 'checkout');
  const { pullRequest } = await api.mutate<Static<typeof InitiatedPromotion>>('promotion.initiate', {
    pipelineId,
    targetEnvironmentId: environments.production,
  });
  if (!pullRequest) throw new Error('production does not follow git');
  await api.mutate('pullRequest.comment', {
    environmentId: environments.production,
    number: pullRequest.number,
    body: 'Five lines a second in staging. **Enough** for production?\n\n- `judge` sets the level\n- `say` writes the words',
  });
}
