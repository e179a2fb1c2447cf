/** A version that some nodes try first, and a promotion that waits: for pictures of what is on its way. */
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { onNodes } from '../../fixtures/pipelines.ts';
import { until } from '../../harness/until.ts';
import { draw, drawnLines } from '../drawn.ts';

interface Environments {
  staging: string;
  production: string;
}

/** Nodes with the label `role=demo` try it; others are there. */
export async function fillRollouts(api: ApiClient, { staging, production }: Environments): Promise<void> {
  const pipelineId = await draw(api, staging, 'visits');
  await api.mutate('deploy.agent', { pipelineId, changelog: 'The first one' });
  await until(async () => (await onNodes(api, pipelineId)).some(({ status }) => status === 'RUNNING'), {
    what: 'visits to run',
    timeoutMs: 30_000,
  });
  await api.mutate('pipeline.saveGraph', { pipelineId, ...drawnLines('.seen = true\n.page = "cart"') });
  await api.mutate('stagedRollout.create', {
    pipelineId,
    canarySelector: { role: 'demo' },
    healthCheckWindowMinutes: 60,
    changelog: 'Knows the page of each visit',
  });
  await api.mutate('promotion.initiate', { pipelineId, targetEnvironmentId: production });
}
