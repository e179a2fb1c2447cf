import { Deleted } from '../../../schemas/api/common.ts';
import {
  CreateSnippet,
  ListSnippets,
  Snippet,
  SnippetId,
  SnippetList,
  UpdateSnippet,
} from '../../../schemas/api/pipelines/snippets.ts';
import { objectScope, teamScope } from '../../identity/access/index.ts';
import { lockTeam } from '../../identity/teams/index.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import {
  countSnippets,
  deleteSnippet,
  insertSnippet,
  listSnippets,
  lockSnippet,
  type SnippetContent,
  updateSnippet,
} from './store.ts';

/** Limit per team, since the list is not paged. */
const MAX_SNIPPETS = 500;

async function getLocked(ctx: MutationContext, id: string): Promise<Snippet> {
  const snippet = await lockSnippet(ctx.db, id);
  if (!snippet) throw notFound('Snippet');
  return snippet;
}

const notifyUi = (ctx: MutationContext) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['library'] });

export const list = query({
  name: 'vrlSnippet.list',
  summary: 'VRL snippets of a team',
  role: 'VIEWER',
  input: ListSnippets,
  output: SnippetList,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  run: (ctx, input) => listSnippets(ctx.db, input.teamId),
});

export const create = mutation({
  name: 'vrlSnippet.create',
  summary: 'Save a piece of VRL as a snippet of the team',
  role: 'EDITOR',
  audit: 'vrlSnippet.created',
  input: CreateSnippet,
  output: Snippet,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const name = input.name.trim();
    await lockTeam(ctx.db, input.teamId);
    if ((await countSnippets(ctx.db, input.teamId)) >= MAX_SNIPPETS)
      throw preconditionFailed(`This team has ${MAX_SNIPPETS} snippets; delete some first`);
    const id = await insertSnippet(
      ctx.db,
      input.teamId,
      {
        name,
        description: input.description ?? null,
        category: input.category.trim(),
        code: input.code,
      },
      ctx.actor.type === 'user' ? ctx.actor.userId : null,
    );
    ctx.audit({ entityType: 'VrlSnippet', entityId: id, metadata: { name } });
    await notifyUi(ctx);
    return getLocked(ctx, id);
  },
});

export const update = mutation({
  name: 'vrlSnippet.update',
  summary: 'Change a snippet; pipelines that contain a copy of it stay unchanged',
  role: 'EDITOR',
  audit: 'vrlSnippet.updated',
  input: UpdateSnippet,
  output: Snippet,
  scope: (ctx, input) => objectScope(ctx, 'Snippet', input.id),
  async run(ctx, input) {
    const before = await getLocked(ctx, input.id);
    const content: SnippetContent = {
      name: input.name?.trim() ?? before.name,
      description: input.description ?? before.description,
      category: input.category?.trim() ?? before.category,
      code: input.code ?? before.code,
    };
    await updateSnippet(ctx.db, input.id, content);
    ctx.audit({
      entityType: 'VrlSnippet',
      entityId: input.id,
      ...(before.name === content.name ? {} : { diff: { name: [before.name, content.name] } }),
      metadata: { name: content.name, codeChanged: before.code !== content.code },
    });
    await notifyUi(ctx);
    return getLocked(ctx, input.id);
  },
});

export const remove = mutation({
  name: 'vrlSnippet.delete',
  summary: 'Delete a snippet; pipelines that contain a copy of it stay unchanged',
  role: 'EDITOR',
  audit: 'vrlSnippet.deleted',
  input: SnippetId,
  output: Deleted,
  scope: (ctx, input) => objectScope(ctx, 'Snippet', input.id),
  async run(ctx, input) {
    const snippet = await getLocked(ctx, input.id);
    await deleteSnippet(ctx.db, input.id);
    ctx.audit({ entityType: 'VrlSnippet', entityId: input.id, metadata: { name: snippet.name } });
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});
