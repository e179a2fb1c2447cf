import type { DeploymentStatus } from '../../../../schemas/api/pipelines/deployments.ts';
import { heartbeat } from '../../agents/agent-client.ts';
import { until } from '../../harness/until.ts';
import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { pipeline, type Rows } from './row.ts';

/** What the pipeline can be asked for: its node was heard of, and is not in maintenance. */
async function running(side: Side, root: TestUser): Promise<{ pipelineId: string }> {
  const { node, pipelineId } = side;
  await root.call('mutation', 'fleet.setMaintenance', { nodeId: node.nodeId, enabled: false });
  await node.heartbeat(heartbeat({ pipelines: [{ pipelineId, version: 1, status: 'RUNNING' }] }));
  const runs = async () => {
    const { nodes } = await root.query<Pick<DeploymentStatus, 'nodes'>>('pipeline.deploymentStatus', {
      pipelineId,
    });
    return nodes.some(({ status, nodeHealth }) => status === 'RUNNING' && nodeHealth !== 'UNREACHABLE');
  };
  await until(runs, { what: 'the pipeline to run' });
  return { pipelineId };
}

const answer = ({ node }: Side, requestId: string) =>
  node.samples({
    results: ['lines', 'out'].map((componentKey) => ({
      requestId,
      componentKey,
      events: [{ n: 1 }],
      schema: [],
    })),
  });

/** One that is answered: only few may be open. */
async function freshSample(side: Side, _: number, root: TestUser) {
  const { requestId } = await root.mutate<{ requestId: string }>('pipeline.requestSamples', {
    ...(await running(side, root)),
    componentKeys: ['lines'],
  });
  await answer(side, requestId);
  return { requestId };
}

/** Of whoever calls, on each side: only few may be open, so that the one before ends first. */
const taps = new Map<string, string>();
async function freshTap(side: Side, _: number, caller: TestUser) {
  const key = `${caller.email} ${side.pipelineId}`;
  const before = taps.get(key);
  if (before !== undefined) await caller.call('mutation', 'pipeline.stopTap', { tapId: before });
  const { tapId } = await caller.mutate<{ tapId: string }>('pipeline.startTap', {
    ...(await running(side, caller)),
    componentKey: 'lines',
  });
  taps.set(key, tapId);
  return { tapId };
}

export const SAMPLES: Rows = {
  'pipeline.requestSamples': {
    names: 'object',
    input: async (side, _, root) => ({
      ...(await running(side, root)),
      ...{ componentKeys: ['lines', 'out'], limit: 3, nodeId: side.node.nodeId },
    }),
    undo: (side, { requestId }) => answer(side, String(requestId)),
  },
  'pipeline.sampleResult': { names: 'object', input: freshSample },
  'pipeline.eventSchemas': { names: 'object', input: pipeline },
  'pipeline.startTap': {
    names: 'object',
    input: async (side, _, root) => ({
      ...(await running(side, root)),
      ...{ componentKey: 'lines', nodeId: side.node.nodeId },
    }),
    undo: (_, { tapId }, caller) => caller.call('mutation', 'pipeline.stopTap', { tapId }),
  },
  'pipeline.stopTap': { names: 'own', input: freshTap },
};
