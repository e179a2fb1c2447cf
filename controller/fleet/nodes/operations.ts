import {
  FleetNode,
  GetNode,
  ListNodes,
  ListNodesWithPipelines,
  MaintainedNode,
  NodeList,
  NodeListWithPipelines,
  type NodeWithPipelines,
  SetMaintenance,
} from '../../../schemas/api/fleet/fleet.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { countComponentTypes } from '../engines/index.ts';
import { findEnvironment } from '../environments/index.ts';
import { memoizePerJoin, type NodeStatus, readArchivedNodes, readStatus } from '../status/index.ts';
import { presentPending } from '../updates/pending-update.ts';
import { findNode, writeMaintenance } from './store.ts';
import { summary } from './summary.ts';

const withPipelines = (status: NodeStatus): NodeWithPipelines => ({
  ...summary(status),
  pipelines: status.pairs.map(({ pipeline, version, gate }) => ({
    pipelineId: pipeline.id,
    pipelineName: pipeline.name,
    status: gate.status,
    version: gate.version,
    desiredVersion: version,
  })),
});

const summaries = memoizePerJoin(({ nodes }) => nodes.map(summary));
const matrix = memoizePerJoin(({ nodes }) => nodes.map(withPipelines));

export const list = query({
  name: 'fleet.list',
  summary: 'Nodes of an environment; archived nodes only on request',
  role: 'VIEWER',
  permission: 'nodes.read',
  input: ListNodes,
  output: NodeList,
  // Unbounded: archived nodes stay until they are deleted.
  weight: ({ includeArchived }) => (includeArchived ? 'heavy' : 'light'),
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, includeArchived = false }) {
    const nodes = summaries(await readStatus(ctx, { environmentId }));
    if (!includeArchived) return nodes;
    return [...nodes, ...(await readArchivedNodes(ctx, environmentId)).map(summary)];
  },
});

export const listWithPipelineStatus = query({
  name: 'fleet.listWithPipelineStatus',
  summary: 'Nodes of an environment, each with the pipelines that it runs and should run',
  role: 'VIEWER',
  input: ListNodesWithPipelines,
  output: NodeListWithPipelines,
  weight: 'heavy',
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: async (ctx, input) => matrix(await readStatus(ctx, input)),
});

export const get = query({
  name: 'fleet.get',
  summary: 'One node: its running and desired pipelines, its host and its agent',
  role: 'VIEWER',
  permission: 'nodes.read',
  input: GetNode,
  output: FleetNode,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.id),
  async run(ctx, input) {
    const found = await findNode(ctx.db, input.id);
    if (!found) throw notFound('Node');
    const [{ nodes }, environment, engineComponentTypes] = await Promise.all([
      readStatus(ctx, { environmentId: found.environmentId, nodeId: found.id }),
      findEnvironment(ctx.db, found.environmentId),
      countComponentTypes(ctx.db, found.id),
    ]);
    const status = nodes[0];
    if (!status || !environment) throw notFound('Node');
    return {
      ...summary(status),
      apiPort: found.apiPort,
      pendingUpdate: found.update && presentPending(found.update),
      failedUpdates: found.failedUpdates,
      updateError: status.node.updateError,
      pipelines: status.pipelines,
      environment: { id: environment.id, name: environment.name, teamId: environment.teamId },
      engineComponentTypes,
      agentLabels: status.node.agentLabels,
      uiLabels: status.node.uiLabels,
      labelSources: status.labelSources,
      groups: status.groups.map(({ id, name }) => ({ id, name })),
      hostMetrics: status.node.hostMetrics,
      agentHealth: status.node.agentHealth as FleetNode['agentHealth'],
      runningAs: status.node.runningAs,
    };
  },
});

export const setMaintenance = mutation({
  name: 'fleet.setMaintenance',
  summary: 'Put a node into maintenance, in which it runs no pipelines, or end its maintenance',
  role: 'EDITOR',
  permission: 'nodes.manage',
  audit: 'node.maintenanceChanged',
  input: SetMaintenance,
  output: MaintainedNode,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId, enabled }) {
    const written = await writeMaintenance(ctx.db, nodeId, enabled);
    if (!written) throw notFound('Node');
    const { node, changed } = written;
    ctx.audit({
      entityType: 'Node',
      entityId: nodeId,
      metadata: { name: node.name },
      ...(changed ? { diff: { maintenance: [!enabled, enabled] } } : {}),
    });
    if (changed) {
      const { environmentId } = node;
      await ctx.services.bus.publish(ctx.db, { type: 'node', nodeId, environmentId });
      await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['fleet', 'pipelines'] });
    }
    return node;
  },
});
