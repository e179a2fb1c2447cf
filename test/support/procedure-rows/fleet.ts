import { NOTHING } from '../person.ts';
import type { Side } from '../two-teams.ts';
import { environment, fresh, type Rows } from './row.ts';

const ruleOf = ({ environmentId, teamId, pipelineId }: Side, n: number) => ({
  ...{ environmentId, teamId, pipelineId, name: `rule ${n}` },
  ...{ metric: 'error_rate', condition: 'gt', threshold: 0.5, durationSeconds: 30 },
});

export const FLEET: Rows = {
  'fleet.list': { names: 'scope', input: environment },
  'fleet.get': { names: 'object', input: ({ node }) => ({ id: node.nodeId }) },
  'fleet.nodeLogs': {
    names: 'object',
    input: ({ node, pipelineId }) => ({ nodeId: node.nodeId, pipelineId }),
  },
  'fleet.listWithPipelineStatus': { names: 'scope', input: environment },
  'fleet.setMaintenance': {
    names: 'object',
    input: ({ node }, n) => ({ nodeId: node.nodeId, enabled: n % 2 === 0 }),
  },
  'nodeGroup.list': { names: 'scope', input: environment },
  'nodeGroup.groupHealthStats': { names: 'scope', input: environment },
  'nodeGroup.nodesInGroup': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, groupId: '__ungrouped__' }),
  },
  'alert.listRules': { names: 'scope', input: environment },
  'alert.createRule': { names: 'scope', input: ruleOf },
  'alert.updateRule': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await fresh(root, 'alert.createRule', ruleOf(side, n)),
      name: `renamed ${n}`,
    }),
  },
  'alert.deleteRule': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'alert.createRule', ruleOf(side, n)) }),
  },
  'dashboard.stats': { names: 'scope', input: environment },
  'dashboard.pipelineCards': { names: 'scope', input: environment },
  'dashboard.recentPipelines': { names: 'own', input: () => NOTHING },
  'dashboard.recentAudit': { names: 'own', input: () => NOTHING },
  'dashboard.nodeCards': { names: 'own', input: () => NOTHING },
  'dashboard.operationalOverview': { names: 'own', input: () => NOTHING },
};
