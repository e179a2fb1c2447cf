import type { GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { freshGraph, GRAPH } from './drafts.ts';
import { environment, type Rows } from './row.ts';

async function freshComponent({ environmentId }: Side, n: number, root: TestUser): Promise<string> {
  const [{ componentType, kind, config }] = GRAPH.nodes as [GraphNode];
  const input = { environmentId, name: `shared ${n}`, componentType, kind, config };
  return (await root.mutate<{ id: string }>('sharedComponent.create', input)).id;
}

async function freshLink(side: Side, n: number, root: TestUser) {
  const { pipelineId, nodeId } = await freshGraph(side, n, root);
  const sharedComponentId = await freshComponent(side, n, root);
  await root.mutate('sharedComponent.linkExisting', { pipelineId, nodeId, sharedComponentId });
  return { pipelineId, nodeId };
}

export const SHARED_COMPONENTS: Rows = {
  'sharedComponent.list': { names: 'scope', input: environment },
  'sharedComponent.getById': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await freshComponent(side, n, root),
    }),
  },
  'sharedComponent.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({
      environmentId,
      name: `made ${n}`,
      description: 'for all',
      componentType: 'blackhole',
      kind: 'SINK',
      config: {},
    }),
  },
  'sharedComponent.createFromNode': {
    names: 'object',
    input: async (side, n, root) => ({
      ...(await freshGraph(side, n, root)),
      environmentId: side.environmentId,
      name: `from a node ${n}`,
    }),
  },
  'sharedComponent.update': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await freshComponent(side, n, root),
      name: `renamed ${n}`,
      description: 'another',
      config: { format: 'syslog' },
    }),
  },
  'sharedComponent.delete': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await freshComponent(side, n, root),
    }),
  },
  'sharedComponent.acceptUpdate': { names: 'object', input: freshLink },
  'sharedComponent.acceptUpdateBulk': {
    names: 'object',
    input: async (side, n, root) => ({ pipelineId: (await freshLink(side, n, root)).pipelineId }),
  },
  'sharedComponent.unlink': { names: 'object', input: freshLink },
  'sharedComponent.linkExisting': {
    names: 'object',
    input: async (side, n, root) => ({
      ...(await freshGraph(side, n, root)),
      sharedComponentId: await freshComponent(side, n, root),
    }),
  },
};
