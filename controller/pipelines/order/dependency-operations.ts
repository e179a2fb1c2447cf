import { Deleted } from '../../../schemas/api/common.ts';
import { OrGit } from '../../../schemas/api/delivery/git-words.ts';
import {
  AddDependency,
  DependenciesOf,
  Dependency,
  DependencyGraph,
  DependencyGraphInput,
  DependencyId,
  DependencyList,
  ListCandidates,
  OtherPipelines,
} from '../../../schemas/api/pipelines/pipeline-order.ts';
import { lockEditable } from '../../delivery/ownership/index.ts';
import { readStatus } from '../../fleet/status/index.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, conflict, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { circleText } from './cycles.ts';
import { type Dependencies, dependenciesOf, otherPipeline } from './dependency-graph.ts';
import { deleteDependency, insertDependency, listOrdered, listUiDependencies } from './dependency-store.ts';
import { lockOrder } from './lock-store.ts';

/** Dependencies per pipeline, from both sources. */
const MAX_UPSTREAMS = 500;

async function read(ctx: Context, environmentId: string): Promise<Dependencies> {
  const pipelines = await listOrdered(ctx.db, environmentId);
  return dependenciesOf(pipelines, await listUiDependencies(ctx.db, environmentId));
}

/** The environment of a pipeline. @throws NOT_FOUND */
async function environmentOf(ctx: Context, pipelineId: string): Promise<string> {
  const { environmentId } = await objectScope(ctx, 'Pipeline', pipelineId);
  if (!environmentId) throw notFound('Pipeline');
  return environmentId;
}

const readAround = async (ctx: Context, pipelineId: string) =>
  read(ctx, await environmentOf(ctx, pipelineId));

const notifyUi = (ctx: MutationContext, environmentId: string) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['pipelines'] });

export const list = query({
  name: 'pipelineDependency.list',
  summary: 'Dependencies of a pipeline, set by users and by its manifest',
  role: 'VIEWER',
  input: DependenciesOf,
  output: DependencyList,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: async (ctx, { pipelineId }) => (await readAround(ctx, pipelineId)).upstreamsOf(pipelineId),
});

export const listCandidates = query({
  name: 'pipelineDependency.listCandidates',
  summary: 'Pipelines that a pipeline could also depend on without a cycle',
  role: 'VIEWER',
  input: ListCandidates,
  output: OtherPipelines,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { pipelineId, environmentId }) {
    const dependencies = await read(ctx, environmentId);
    if (!dependencies.byId.has(pipelineId)) throw notFound('Pipeline');
    const excluded = dependencies.withDependents(pipelineId);
    const known = new Set(dependencies.upstreamsOf(pipelineId).map(({ upstreamId }) => upstreamId));
    return [...dependencies.byId.values()]
      .filter(({ id }) => !excluded.has(id) && !known.has(id))
      .map(otherPipeline);
  },
});

export const deployWarnings = query({
  name: 'pipelineDependency.deployWarnings',
  summary: 'Dependencies of a pipeline that are not deployed',
  role: 'VIEWER',
  input: DependenciesOf,
  output: DependencyList,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: async (ctx, { pipelineId }) =>
    (await readAround(ctx, pipelineId))
      .upstreamsOf(pipelineId)
      .filter(({ upstreamIsDraft }) => upstreamIsDraft),
});

export const undeployWarnings = query({
  name: 'pipelineDependency.undeployWarnings',
  summary: 'Deployed pipelines that depend on a pipeline',
  role: 'VIEWER',
  input: DependenciesOf,
  output: OtherPipelines,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId }) {
    const dependencies = await readAround(ctx, pipelineId);
    const dependents = new Set(dependencies.downstreamIdsOf(pipelineId));
    return [...dependencies.byId.values()]
      .filter(({ id, isDraft }) => dependents.has(id) && !isDraft)
      .map(otherPipeline);
  },
});

export const graph = query({
  name: 'pipelineDependency.graph',
  summary: 'Dependency graph of the pipelines of an environment',
  role: 'VIEWER',
  input: DependencyGraphInput,
  output: DependencyGraph,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const { pipelines } = await readStatus(ctx, { environmentId });
    const { edges } = await read(ctx, environmentId);
    const existing = new Set(pipelines.map(({ pipeline }) => pipeline.id));
    return {
      nodes: pipelines.map(({ pipeline, gate }) => ({
        id: pipeline.id,
        name: pipeline.name,
        isDraft: pipeline.isDraft,
        managedBy: pipeline.managedBy,
        gate,
      })),
      // The two reads are not atomic.
      edges: edges.filter((edge) => existing.has(edge.upstreamId) && existing.has(edge.downstreamId)),
    };
  },
});

export const add = mutation({
  name: 'pipelineDependency.add',
  summary: 'Make a pipeline depend on another one of its environment',
  role: 'EDITOR',
  audit: 'pipelineDependency.added',
  input: AddDependency,
  output: OrGit(Dependency),
  async scope(ctx, { upstreamId, downstreamId }) {
    await objectScope(ctx, 'Pipeline', upstreamId);
    return objectScope(ctx, 'Pipeline', downstreamId);
  },
  async run(ctx, { upstreamId, downstreamId, description = null }) {
    const environmentId = await environmentOf(ctx, downstreamId);
    if ((await environmentOf(ctx, upstreamId)) !== environmentId)
      throw badRequest('The two pipelines are in different environments; dependencies are per environment');
    if (upstreamId === downstreamId) throw badRequest('A pipeline cannot depend on itself');
    await lockOrder(ctx.db, environmentId);
    const downstream = await lockEditable(ctx, 'pipelines', downstreamId);
    const dependencies = await read(ctx, environmentId);
    const upstream = dependencies.byId.get(upstreamId);
    if (!upstream) throw notFound('Pipeline');
    const known = dependencies.upstreamsOf(downstreamId);
    if (known.some((entry) => entry.upstreamId === upstreamId))
      throw conflict(`"${downstream.name}" depends on "${upstream.name}" already`);
    assertNoCycle(dependencies, upstreamId, downstreamId);
    if (known.length >= MAX_UPSTREAMS)
      throw preconditionFailed(
        `"${downstream.name}" depends on ${MAX_UPSTREAMS} pipelines, which is the limit; remove one first`,
      );
    const createdById = ctx.actor.type === 'user' ? ctx.actor.userId : null;
    const added = await insertDependency(ctx.db, { upstreamId, downstreamId, description, createdById });
    ctx.audit({
      entityType: 'PipelineDependency',
      entityId: added.id,
      metadata: { upstream: upstream.name, downstream: downstream.name },
    });
    await notifyUi(ctx, environmentId);
    return {
      ...added,
      source: 'ui' as const,
      upstreamId,
      upstreamName: upstream.name,
      upstreamIsDraft: upstream.isDraft,
      description,
    };
  },
});

function assertNoCycle(dependencies: Dependencies, upstreamId: string, downstreamId: string): void {
  const path = dependencies.pathDown(downstreamId, upstreamId);
  if (!path) return;
  const names = path.map((id) => dependencies.byId.get(id)?.name ?? id);
  throw badRequest(
    `That would go round in a circle, each waiting for the one before it: ${circleText(names)}`,
  );
}

export const remove = mutation({
  name: 'pipelineDependency.remove',
  summary: 'Remove a dependency that a user added; one from a manifest is removed there',
  role: 'EDITOR',
  audit: 'pipelineDependency.removed',
  input: DependencyId,
  output: Deleted,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline dependency', input.id),
  async run(ctx, { id }) {
    const { environmentId } = await objectScope(ctx, 'Pipeline dependency', id);
    const removed = await deleteDependency(ctx.db, id);
    if (!removed || !environmentId) throw notFound('Pipeline dependency');
    ctx.audit({ entityType: 'PipelineDependency', entityId: id, metadata: removed });
    await notifyUi(ctx, environmentId);
    return { deleted: true as const };
  },
});
