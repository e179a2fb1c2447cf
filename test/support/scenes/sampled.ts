/** A pipeline with several components, deployed in an environment, and nodes that report to run it. */
import { enrollNode, heartbeat, type TestNode } from '../agents/agent-client.ts';
import type { TestController } from '../harness/controller.ts';
import { until } from '../harness/until.ts';
import { use } from '../harness/use.ts';
import type { TestUser } from '../users/person.ts';
import { makeTestEnvironments, type TestEnvironments } from './places.ts';

const at = (componentKey: string, componentType: string, kind: string, config: object, disabled = false) => ({
  ...{ componentKey, componentType, kind, config, positionX: 0, positionY: 0, disabled },
});
const GRAPH = {
  nodes: [
    at('lines', 'demo_logs', 'SOURCE', { format: 'json' }),
    at('off', 'demo_logs', 'SOURCE', { format: 'json' }, true),
    at('split', 'route', 'TRANSFORM', { route: { big: '.n == 5' } }),
    at('out', 'blackhole', 'SINK', {}),
  ],
  edges: [
    { sourceNodeId: 'lines', targetNodeId: 'split' },
    { sourceNodeId: 'split', sourcePort: 'big', targetNodeId: 'out' },
  ],
};

export interface Sampled extends TestEnvironments {
  pipelineId: string;
  /** One of the other team's, deployed too. */
  foreignPipelineId: string;
  /** Runs the pipeline. */
  node: TestNode;
  /** A further node of the environment. It says nothing yet. */
  join(hostname: string): Promise<TestNode>;
}

export async function deployGraph(person: TestUser, environmentId: string, name: string): Promise<string> {
  const { id } = await person.mutate<{ id: string }>('pipeline.create', { environmentId, name });
  await person.mutate('pipeline.saveGraph', { pipelineId: id, ...GRAPH });
  await person.mutate('deploy.agent', { pipelineId: id, changelog: 'first' });
  return id;
}

/** Tells of the pipeline, and waits until it is known. Nobody misses the node for a minute and a half, on a slow machine too. */
export async function report(
  test: TestController,
  node: TestNode,
  pipelineId: string,
  status = 'RUNNING',
  more: Record<string, unknown> = {},
): Promise<void> {
  let sentAt = new Date();
  const body = heartbeat({
    pipelines: [{ pipelineId, version: 1, status }],
    pollIntervalMs: 30_000,
    ...more,
  });
  // A pipeline that was made a moment ago may not be known yet, and the rest of the heartbeat is stored all the same.
  const taken = async () => {
    sentAt = new Date();
    return (await node.heartbeat(body)).json<{ rejected?: object[] }>().rejected === undefined;
  };
  await until(taken, { what: 'the heartbeat to be taken' });
  const known = () =>
    test.db('node_reports').where({ node_id: node.nodeId }).where('reported_at', '>=', sentAt);
  await until(async () => (await known()).length > 0, { what: 'the heartbeat to be stored' });
}

export async function makeSampled(test: TestController): Promise<Sampled> {
  const places = await makeTestEnvironments(test);
  const { token } = await places.root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
    environmentId: places.environmentId,
  });
  const join = (hostname: string) => enrollNode(test.url, token, { hostname });
  const pipelineId = await deployGraph(places.root, places.environmentId, 'orders');
  const foreignPipelineId = await deployGraph(places.root, places.foreignId, 'orders');
  const node = await join('node-1');
  await report(test, node, pipelineId);
  return { ...places, pipelineId, foreignPipelineId, node, join };
}

export const useSampled = (test: TestController) => use(() => makeSampled(test));
