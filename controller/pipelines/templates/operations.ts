import { Deleted } from '../../../schemas/api/common.ts';
import {
  CreatedTemplate,
  CreateTemplate,
  ListTemplates,
  Template,
  TemplateId,
  TemplateList,
} from '../../../schemas/api/pipelines/templates.ts';
import { objectScope, teamScope } from '../../identity/access/index.ts';
import { lockTeam } from '../../identity/teams/index.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { assertGraphSize, copyGraph, maskSensitive, stripCredentials } from '../index.ts';
import { countTemplates, deleteTemplate, findTemplate, insertTemplate, listTemplates } from './store.ts';

/** Limit per team, since the list is not paged. */
const MAX_TEMPLATES = 500;

const notifyUi = (ctx: MutationContext) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['library'] });

export const list = query({
  name: 'template.list',
  summary: 'Templates of a team, without their graphs',
  role: 'VIEWER',
  input: ListTemplates,
  output: TemplateList,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  run: (ctx, input) => listTemplates(ctx.db, input.teamId),
});

export const get = query({
  name: 'template.get',
  summary: 'One template with its graph',
  role: 'VIEWER',
  input: TemplateId,
  output: Template,
  scope: (ctx, input) => objectScope(ctx, 'Template', input.id),
  async run(ctx, { id }) {
    const template = await findTemplate(ctx.db, id);
    if (!template) throw notFound('Template');
    // As in a pipeline, only users who may change it see values that look like credentials.
    if (allows(ctx.actor, { teamId: template.teamId }, { role: 'EDITOR' })) return template;
    const nodes = template.nodes.map((node) => ({ ...node, config: maskSensitive(node.config) }));
    return { ...template, nodes };
  },
});

export const create = mutation({
  name: 'template.create',
  summary: 'Save a graph as a template of the team, without credentials and links to shared components',
  role: 'EDITOR',
  audit: 'template.created',
  input: CreateTemplate,
  output: CreatedTemplate,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const { teamId, description } = input;
    const name = input.name.trim();
    const { nodes, stripped } = stripCredentials(input.nodes);
    const graph = copyGraph({ nodes, edges: input.edges }, false);
    assertGraphSize({ ...graph, globalConfig: {} });
    await lockTeam(ctx.db, teamId);
    if ((await countTemplates(ctx.db, teamId)) >= MAX_TEMPLATES)
      throw preconditionFailed(`This team has ${MAX_TEMPLATES} templates; delete some first`);
    const id = await insertTemplate(ctx.db, {
      teamId,
      name,
      description,
      category: input.category.trim(),
      ...graph,
      createdById: ctx.actor.type === 'user' ? ctx.actor.userId : null,
    });
    ctx.audit({ entityType: 'Template', entityId: id, metadata: { name, strippedFields: stripped } });
    await notifyUi(ctx);
    const template = await findTemplate(ctx.db, id);
    if (!template) throw notFound('Template');
    return { ...template, strippedFields: stripped };
  },
});

export const remove = mutation({
  name: 'template.delete',
  summary: 'Delete a template; pipelines created from it stay unchanged',
  role: 'EDITOR',
  audit: 'template.deleted',
  input: TemplateId,
  output: Deleted,
  scope: (ctx, input) => objectScope(ctx, 'Template', input.id),
  async run(ctx, { id }) {
    const name = await deleteTemplate(ctx.db, id);
    if (name === null) throw notFound('Template');
    ctx.audit({ entityType: 'Template', entityId: id, metadata: { name } });
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});
