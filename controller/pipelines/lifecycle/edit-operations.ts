/** Operations on pipelines that the UI owns: create, change, copy, delete and restore. */

import type { Static } from 'typebox';
import { Id, Input } from '../../../schemas/api/common.ts';
import { OrGit } from '../../../schemas/api/delivery/git-words.ts';
import {
  CreatePipeline,
  DeletedPipeline,
  DeletePipeline,
  OfPipeline,
  PipelineRef,
  PromotedPipeline,
  PromotePipeline,
  UpdatePipeline,
} from '../../../schemas/api/pipelines/pipelines.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { lockRow, PURGE_JOB, TOMBSTONE_HOURS } from '../../delivery/ownership/index.ts';
import { findEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { badRequest, forbidden, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { secretReferences, secretVariables } from '../../secrets/index.ts';
import { compile } from '../definition/compile.ts';
import { stripCredentials, withoutCredentials } from '../definition/strip-credentials.ts';
import { copyGraph, definitionOf, type Graph } from '../graph/graph.ts';
import { assertNoCycleThrough, lockOrder, setPipelineGroup } from '../order/index.ts';
import { withLiveLinks } from '../shared-components/links.ts';
import { rollBackActiveRollout } from '../versions/create-version.ts';
import { getPipeline, lockPipeline } from './lock-pipeline.ts';
import { publishPipelineChange } from './publish-change.ts';
import {
  insertPipeline,
  listNameKeys,
  nameConflict,
  type PipelineRecord,
  undeletePipeline,
  updatePipeline,
} from './store.ts';

const MAX_NAME = 100;

const reference = (pipeline: PipelineRecord): Static<typeof PipelineRef> => ({
  id: pipeline.id,
  name: pipeline.name,
  environmentId: pipeline.environmentId,
  managedBy: pipeline.managedBy,
  isDraft: pipeline.isDraft,
  graphRevision: pipeline.graphRevision,
});

const EMPTY = {
  description: null,
  nodeSelector: null,
  logLevel: 'info',
  drainSeconds: null,
  nodes: [],
  edges: [],
  globalConfig: {},
  dependsOn: [],
  labels: {},
} as const;

export const create = mutation({
  name: 'pipeline.create',
  summary: 'Create an empty draft',
  role: 'EDITOR',
  permission: 'pipelines.edit',
  audit: 'pipeline.created',
  input: CreatePipeline,
  output: PipelineRef,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, name, description }) {
    const id = await insertPipeline(ctx.db, environmentId, {
      ...EMPTY,
      nodes: [],
      edges: [],
      dependsOn: [],
      name,
      description: description ?? null,
    });
    if (id === null) throw nameConflict(name);
    const created = await getPipeline(ctx, id);
    await publishPipelineChange(ctx, created, {
      reason: 'created',
      served: false,
      diff: { name: [null, name] },
    });
    return reference(created);
  },
});

/** The fields that a manifest contains. The group is not among them, so the group of a pipeline in git can be changed. */
const manifestFields = ({ id, groupId, ...fields }: Static<typeof UpdatePipeline>) => fields;

export const update = mutation({
  name: 'pipeline.update',
  summary:
    'Change the name, description, node selector, log level, drain time, labels or group of a pipeline',
  role: 'EDITOR',
  permission: 'pipelines.edit',
  audit: 'pipeline.updated',
  input: UpdatePipeline,
  output: OrGit(PipelineRef),
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.id),
  async run(ctx, input) {
    const { id, groupId } = input;
    const fields = manifestFields(input);
    const hasFields = Object.keys(fields).length > 0;
    if (!hasFields && !(await lockRow(ctx.db, 'pipelines', id))) throw notFound('Pipeline');
    const before = hasFields ? await lockPipeline(ctx, id) : await getPipeline(ctx, id);
    // The group exists only in the database, so a change that goes to git would lose it.
    if (hasFields && groupId !== undefined && before.managedBy === 'git')
      throw badRequest('git manages this pipeline; send groupId in a separate request');
    if (groupId !== undefined) await setPipelineGroup(ctx.db, id, before.environmentId, groupId);
    if (hasFields) await updatePipeline(ctx.db, id, fields);
    const after = await getPipeline(ctx, id);
    await publishPipelineChange(ctx, after, {
      reason: 'updated',
      // Nodes are served the name; selector, log level and drain time ship with the next version.
      served: !after.isDraft && (before.name !== after.name || before.autoRevert !== after.autoRevert),
      diff: diffOf(before, after, Object.keys(fields) as (keyof typeof fields)[]),
      ...(groupId === undefined ? {} : { metadata: { groupId } }),
    });
    return reference(after);
  },
});

export const remove = mutation({
  name: 'pipeline.delete',
  summary: 'Undeploy and delete a pipeline; pipeline.restore can restore it for 24 hours',
  role: 'EDITOR',
  permission: 'pipelines.edit',
  audit: 'pipeline.deleted',
  input: DeletePipeline,
  output: OrGit(DeletedPipeline),
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.id),
  async run(ctx, { id }) {
    const pipeline = await lockPipeline(ctx, id);
    const now = ctx.clock.now();
    await rollBackActiveRollout(ctx, pipeline, 'The pipeline was deleted');
    await updatePipeline(ctx.db, id, {
      isDraft: true,
      deployedVersionId: null,
      deployedAt: null,
      tombstonedAt: new Date(now),
    });
    await ctx.services.jobs.add(
      ctx.db,
      PURGE_JOB,
      { table: 'pipelines', id },
      { runAt: new Date(now + TOMBSTONE_HOURS * 3_600_000), key: `${PURGE_JOB}:${id}` },
    );
    const wasDeployed = !pipeline.isDraft;
    const metadata = { name: pipeline.name, wasDeployed };
    await publishPipelineChange(ctx, pipeline, { reason: 'deleted', served: wasDeployed, metadata });
    return { deleted: true as const };
  },
});

export const restore = mutation({
  name: 'pipeline.restore',
  summary: 'Restore a deleted pipeline as a draft, with its versions, within 24 hours after pipeline.delete',
  role: 'EDITOR',
  audit: 'pipeline.restored',
  input: Input({ id: Id }),
  output: PipelineRef,
  scope: (ctx, input) => objectScope(ctx, 'Deleted pipeline', input.id),
  async run(ctx, { id }) {
    const location = await objectScope(ctx, 'Deleted pipeline', id);
    if (location.environmentId) await lockOrder(ctx.db, location.environmentId);
    await undeletePipeline(ctx.db, id);
    const deleted = await getPipeline(ctx, id);
    // A shared component that was deleted meanwhile was not unlinked in a deleted pipeline.
    const nodes = await withLiveLinks(ctx.db, deleted.environmentId, deleted.nodes);
    if (nodes.some((node, index) => node !== deleted.nodes[index]))
      await updatePipeline(ctx.db, id, { nodes });
    const pipeline = await getPipeline(ctx, id);
    await assertNoCycleThrough(ctx, pipeline.environmentId, id);
    const metadata = { name: pipeline.name };
    await publishPipelineChange(ctx, pipeline, { reason: 'restored', served: false, metadata });
    return reference(pipeline);
  },
});

/** "orders copy", "orders copy 2", …; cut to the maximum length of a name. */
const copyName = (name: string, attempt: number): string => {
  const ending = attempt === 1 ? ' copy' : ` copy ${attempt}`;
  return name.slice(0, MAX_NAME - ending.length) + ending;
};

/** Inserts a copy of a pipeline as a draft. */
async function insertCopy(
  ctx: MutationContext,
  of: PipelineRecord,
  to: { environmentId: string; names: Iterable<string> },
  graph: Partial<Graph>,
): Promise<PipelineRecord> {
  let last = of.name;
  for (const name of to.names) {
    last = name;
    const id = await insertPipeline(ctx.db, to.environmentId, { ...of, ...graph, dependsOn: [], name });
    if (id !== null) return getPipeline(ctx, id);
  }
  throw nameConflict(last);
}

function* copyNames(name: string, taken: ReadonlySet<string>): Generator<string> {
  // Tries more names than are known: others may insert some concurrently.
  for (let attempt = 1; attempt <= taken.size + 50; attempt += 1) {
    const candidate = copyName(name, attempt);
    if (!taken.has(nameKeyOf(candidate))) yield candidate;
  }
}

export const clone = mutation({
  name: 'pipeline.clone',
  summary: 'Copy a pipeline as a draft in the same environment',
  role: 'EDITOR',
  audit: 'pipeline.cloned',
  input: OfPipeline,
  output: PipelineRef,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId }) {
    const source = await getPipeline(ctx, pipelineId);
    const { environmentId } = source;
    const names = copyNames(source.name, new Set(await listNameKeys(ctx.db, environmentId)));
    const nodes = await withLiveLinks(ctx.db, environmentId, source.nodes);
    const graph = copyGraph({ nodes, edges: source.edges }, true);
    const copy = await insertCopy(ctx, source, { environmentId, names }, graph);
    await publishPipelineChange(ctx, copy, {
      reason: 'cloned',
      served: false,
      diff: { name: [null, copy.name] },
      metadata: { clonedFrom: source.id },
    });
    return reference(copy);
  },
});

export const promote = mutation({
  name: 'pipeline.promote',
  summary: 'Copy a pipeline as a draft into another environment, without plain-text credentials',
  role: 'EDITOR',
  audit: 'pipeline.promoted',
  input: PromotePipeline,
  output: PromotedPipeline,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, targetEnvironmentId, name }) {
    const scope = await environmentScope(ctx, targetEnvironmentId);
    if (!allows(ctx.actor, scope, { role: 'EDITOR' }))
      throw forbidden('This needs the role EDITOR in the team of the target environment');
    const source = await getPipeline(ctx, pipelineId);
    const target = await findEnvironment(ctx.db, targetEnvironmentId);
    if (!target) throw notFound('Environment');
    if (target.gitMode === 'sync') {
      throw preconditionFailed(
        `Pipelines of ${target.name} are managed in git; open a pull request with promotion.initiate, or add the manifest there`,
        { managedBy: 'git' },
      );
    }
    const { nodes, stripped } = stripCredentials(source.nodes);
    const global = withoutCredentials(source.globalConfig, '/global');
    stripped.push(...global.stripped);
    const graph = {
      ...copyGraph({ nodes, edges: source.edges }, source.environmentId === targetEnvironmentId),
      globalConfig: global.config,
    };
    const copy = await insertCopy(
      ctx,
      source,
      { environmentId: targetEnvironmentId, names: [name ?? source.name] },
      graph,
    );
    const has = await secretVariables(ctx.db, targetEnvironmentId);
    const missingSecrets = secretReferences(compile(definitionOf(copy)).configYaml)
      .filter(({ variable, optional }) => !optional && !has.has(variable))
      .map(({ variable }) => variable);
    await publishPipelineChange(ctx, copy, {
      reason: 'promoted',
      served: false,
      teamId: scope.teamId,
      diff: { name: [null, copy.name] },
      metadata: { promotedFrom: source.id, strippedFields: stripped },
    });
    return { ...reference(copy), strippedFields: stripped, missingSecrets };
  },
});
