import type { Side } from '../../scenes/two-teams.ts';
import { CONFIG_YAML, freshDeployed, freshDraft, freshGraph, GRAPH } from './drafts.ts';
import { environment, fresh, pipeline, type Rows } from './row.ts';

const groupOf = ({ environmentId }: Side, n: number) => ({
  environmentId,
  name: `group ${n}`,
  color: '#1d6fb8',
});

export const PIPELINES: Rows = {
  'pipeline.list': { names: 'scope', input: environment },
  'pipeline.get': { names: 'object', input: ({ pipelineId }) => ({ id: pipelineId }) },
  'pipeline.versions': { names: 'object', input: pipeline },
  'pipeline.getVersion': { names: 'object', input: ({ versionId }) => ({ versionId }) },
  'pipeline.deploymentStatus': { names: 'object', input: pipeline },
  'pipeline.logs': {
    names: 'object',
    input: ({ pipelineId, node }) => ({ pipelineId, nodeId: node.nodeId }),
  },
  'pipeline.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({ environmentId, name: `made ${n}`, description: 'by hand' }),
  },
  'pipeline.update': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await freshDraft(side, n, root),
      name: `renamed ${n}`,
      description: null,
      nodeSelector: { role: 'edge' },
      logLevel: 'debug',
      drainSeconds: 60,
      labels: { team: 'payments' },
    }),
  },
  'pipeline.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await freshDraft(side, n, root) }),
  },
  'pipeline.restore': {
    names: 'object',
    input: async (side, n, root) => {
      const id = await freshDraft(side, n, root);
      await root.mutate('pipeline.delete', { id });
      return { id };
    },
  },
  'pipeline.clone': { names: 'object', input: pipeline },
  'pipeline.promote': {
    names: 'object',
    input: async ({ teamId, pipelineId }, n, root) => {
      const input = { teamId, name: `promoted to ${n}` };
      const { id } = await root.mutate<{ id: string }>('environment.create', input);
      return { pipelineId, targetEnvironmentId: id, name: 'promoted' };
    },
  },
  'pipeline.saveGraph': {
    names: 'object',
    input: async (side, n, root) => ({
      pipelineId: await freshDraft(side, n, root),
      ...GRAPH,
      globalConfig: { timezone: 'local' },
      graphRevision: 1,
    }),
  },
  'pipeline.renderGraph': {
    names: 'object',
    input: ({ pipelineId }) => ({ pipelineId, ...GRAPH, globalConfig: {} }),
  },
  'pipeline.readYaml': {
    names: 'object',
    input: ({ pipelineId }) => ({ pipelineId, configYaml: CONFIG_YAML, graph: GRAPH }),
  },
  'pipeline.compareVersions': {
    names: 'object',
    input: async (side, n, root) => {
      const { pipelineId, versionId } = await freshDeployed(side, n, root);
      const next = { pipelineId, configYaml: CONFIG_YAML };
      const later = await root.mutate<{ versionId: string }>('pipeline.createVersion', next);
      return { fromVersionId: versionId, toVersionId: later.versionId };
    },
  },
  'pipeline.createVersion': {
    names: 'object',
    input: async (side, n, root) => ({
      pipelineId: await freshDraft(side, n, root),
      configYaml: CONFIG_YAML,
      changelog: 'from a file',
    }),
  },
  'pipeline.rollback': {
    names: 'object',
    input: async (side, n, root) => {
      const { pipelineId, versionId } = await freshDeployed(side, n, root);
      return { pipelineId, targetVersionId: versionId };
    },
  },
  'deploy.agent': {
    names: 'object',
    input: async (side, n, root) => ({
      pipelineId: (await freshGraph(side, n, root)).pipelineId,
      changelog: 'first',
    }),
  },
  'deploy.undeploy': {
    names: 'object',
    input: async (side, n, root) => ({ pipelineId: (await freshDeployed(side, n, root)).pipelineId }),
  },
  'deploy.retryVersion': {
    names: 'object',
    input: async (side, n, root) => ({ pipelineId: (await freshDeployed(side, n, root)).pipelineId }),
  },
  'deploy.preview': { names: 'object', input: pipeline },
  'deploy.environmentInfo': { names: 'object', input: pipeline },
  'pipelineGroup.list': { names: 'scope', input: environment },
  'pipelineGroup.create': {
    names: 'scope',
    input: async (side, n, root) => ({
      ...groupOf(side, n),
      parentId: await fresh(root, 'pipelineGroup.create', { ...groupOf(side, n), name: `parent ${n}` }),
    }),
  },
  'pipelineGroup.update': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await fresh(root, 'pipelineGroup.create', groupOf(side, n)),
      name: `renamed ${n}`,
    }),
  },
  'pipelineGroup.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'pipelineGroup.create', groupOf(side, n)) }),
  },
  'pipelineDependency.list': { names: 'object', input: pipeline },
  'pipelineDependency.listCandidates': {
    names: 'scope',
    input: ({ pipelineId, environmentId }) => ({ pipelineId, environmentId }),
  },
  'pipelineDependency.deployWarnings': { names: 'object', input: pipeline },
  'pipelineDependency.undeployWarnings': { names: 'object', input: pipeline },
  'pipelineDependency.graph': { names: 'scope', input: environment },
  'pipelineDependency.add': {
    names: 'object',
    input: async (side, n, root) => ({
      upstreamId: side.pipelineId,
      downstreamId: await freshDraft(side, n, root),
      description: 'reads what that one writes',
    }),
  },
  'pipelineDependency.remove': {
    names: 'object',
    input: async (side, n, root) => {
      const downstreamId = await freshDraft(side, n, root);
      return {
        id: await fresh(root, 'pipelineDependency.add', { upstreamId: side.pipelineId, downstreamId }),
      };
    },
  },
};
