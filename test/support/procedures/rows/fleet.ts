import { enrollNode, heartbeat } from '../../agents/agent-client.ts';
import { until } from '../../harness/until.ts';
import type { Side } from '../../scenes/two-teams.ts';
import { NOTHING, type TestUser } from '../../users/person.ts';
import { environment, fresh, type Rows } from './row.ts';

const waitingNode = ({ environmentId }: Side, n: number) => ({
  ...{ environmentId, name: `by hand ${n}`, host: `by-hand-${n}`, apiPort: 8_686 },
});
const groupOf = ({ environmentId }: Side, n: number) => ({
  ...{ environmentId, name: `group ${n}`, criteria: { role: 'nobody' } },
  ...{ labelTemplate: { tier: 'edge' }, requiredLabels: ['zone'] },
});

/** The node of the side, once it was heard of within the last seconds. */
export async function heard({ node, pipelineId }: Side, root: TestUser): Promise<{ nodeId: string }> {
  const { nodeId } = node;
  const recent = async () => {
    const { lastHeartbeatAt } = await root.query<{ lastHeartbeatAt: string }>('fleet.get', { id: nodeId });
    return Date.now() - Date.parse(lastHeartbeatAt) < 5_000;
  };
  if (await recent()) return { nodeId };
  await node.heartbeat(
    heartbeat({ pipelines: [{ pipelineId, version: 1, status: 'RUNNING', eventsIn: 1 }] }),
  );
  await until(recent, { what: 'the heartbeat to be stored' });
  return { nodeId };
}

const updateOf = async (side: Side, n: number, root: TestUser) => ({
  ...(await heard(side, root)),
  ...{ targetVersion: `v1.0.${n}`, downloadUrl: 'https://example.org/headgate-agent' },
  checksum: 'ab'.repeat(32),
});

export const FLEET: Rows = {
  'fleet.list': { names: 'scope', input: environment },
  'fleet.get': { names: 'object', input: ({ node }) => ({ id: node.nodeId }) },
  'fleet.nodeLogs': {
    names: 'object',
    input: ({ node, pipelineId }) => ({ nodeId: node.nodeId, pipelineId }),
  },
  'fleet.listWithPipelineStatus': { names: 'scope', input: environment },
  'fleet.matrix': { names: 'scope', input: environment },
  'fleet.setMaintenance': {
    names: 'object',
    input: ({ node }, n) => ({ nodeId: node.nodeId, enabled: n % 2 === 0 }),
  },
  'fleet.create': { names: 'scope', input: waitingNode },
  'fleet.update': {
    names: 'object',
    input: ({ node }, n) => ({ id: node.nodeId, name: `renamed ${n}`, labels: { zone: `${n}` } }),
  },
  'fleet.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'fleet.create', waitingNode(side, n)) }),
  },
  'fleet.revokeNode': {
    names: 'object',
    input: async ({ environmentId }, n, root) => {
      const { token } = await root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
        environmentId,
      });
      const { nodeId } = await enrollNode(root.url, token, { hostname: `revoked-${n}` });
      return { id: nodeId };
    },
  },
  'fleet.triggerAgentUpdate': { names: 'object', input: updateOf },
  'fleet.cancelAgentUpdate': {
    names: 'object',
    input: async (side, n, root) => {
      const input = await updateOf(side, n, root);
      await root.mutate('fleet.triggerAgentUpdate', input);
      return { nodeId: input.nodeId };
    },
  },
  'fleet.restartAgent': { names: 'object', input: (side, _n, root) => heard(side, root) },
  'nodeGroup.create': { names: 'scope', input: groupOf },
  'nodeGroup.update': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await fresh(root, 'nodeGroup.create', groupOf(side, n)),
      name: `group renamed ${n}`,
      ...{ criteria: { role: 'none' }, labelTemplate: {}, requiredLabels: [] },
    }),
  },
  'nodeGroup.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'nodeGroup.create', groupOf(side, n)) }),
  },
  'nodeGroup.list': { names: 'scope', input: environment },
  'nodeGroup.groupHealthStats': { names: 'scope', input: environment },
  'nodeGroup.nodesInGroup': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, groupId: '__ungrouped__' }),
  },
  'settings.checkVersion': { names: 'own', input: () => ({ force: true }) },
  'dashboard.stats': { names: 'scope', input: environment },
  'dashboard.pipelineCards': { names: 'scope', input: environment },
  'dashboard.recentPipelines': { names: 'own', input: () => NOTHING },
  'dashboard.recentAudit': { names: 'own', input: () => NOTHING },
  'dashboard.nodeCards': { names: 'own', input: () => NOTHING },
  'dashboard.operationalOverview': { names: 'own', input: () => NOTHING },
};
