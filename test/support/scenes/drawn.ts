/** Pipelines as people draw them, for tests of what becomes of them. */
import type { ApiClient } from '../../../controller/demo/client.ts';
import { untilRunning } from '../fixtures/pipelines.ts';

const component = (componentKey: string, kind: string, componentType: string, config: object) => ({
  componentKey,
  kind,
  componentType,
  config,
  positionX: 0,
  positionY: 0,
  disabled: false,
});

/** Lines that come ten times a second, through a program into nothing. */
export const drawnLines = (source: string) => ({
  nodes: [
    component('ticks', 'SOURCE', 'demo_logs', { format: 'json', interval: 0.1 }),
    component('tidy', 'TRANSFORM', 'remap', { source }),
    component('out', 'SINK', 'blackhole', {}),
  ],
  edges: [
    { sourceNodeId: 'ticks', targetNodeId: 'tidy' },
    { sourceNodeId: 'tidy', targetNodeId: 'out' },
  ],
});

/** Answers the id of a draft. */
export async function draw(
  api: ApiClient,
  environmentId: string,
  name: string,
  source = '.seen = true',
): Promise<string> {
  const { id } = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name });
  await api.mutate('pipeline.saveGraph', { pipelineId: id, ...drawnLines(source) });
  return id;
}

/** Version 1 of what was drawn, which the first node runs once this is done. */
export async function drawAndDeploy(api: ApiClient, environmentId: string, name: string): Promise<string> {
  const id = await draw(api, environmentId, name);
  await api.mutate('deploy.agent', { pipelineId: id, changelog: 'the first one' });
  await untilRunning(api, id, 1);
  return id;
}
