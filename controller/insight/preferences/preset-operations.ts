import { Deleted } from '../../../schemas/api/common.ts';
import { Done } from '../../../schemas/api/identity/people.ts';
import {
  CreateFilterPreset,
  FilterPreset,
  FilterPresetId,
  FilterPresetList,
  MAX_PRESETS,
  PresetsOfScope,
  SetDefaultPreset,
  UpdateFilterPreset,
} from '../../../schemas/api/insight/preferences.ts';
import { lockEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import {
  clearDefaultPreset,
  countPresets,
  deletePreset,
  findPreset,
  insertPreset,
  listPresets,
  markDefaultPreset,
  updatePreset,
} from './preset-store.ts';

const MAX_FILTER_BYTES = 4_096;

function assertSize(filters: FilterPreset['filters']): void {
  const bytes = Buffer.byteLength(JSON.stringify(filters));
  if (bytes > MAX_FILTER_BYTES)
    throw badRequest(
      `filters has ${bytes} bytes as JSON, the limit is ${MAX_FILTER_BYTES}; use fewer filters`,
    );
}

async function getExisting(ctx: MutationContext, environmentId: string, id: string): Promise<FilterPreset> {
  const preset = await findPreset(ctx.db, environmentId, id);
  if (!preset) throw notFound('Filter preset');
  return preset;
}

const publishChange = (ctx: MutationContext, environmentId: string) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['presets'] });

export const list = query({
  name: 'filterPreset.list',
  summary: 'Filter presets of a list, shared by all members of the environment’s team',
  role: 'VIEWER',
  input: PresetsOfScope,
  output: FilterPresetList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => listPresets(ctx.db, input.environmentId, input.scope),
});

export const create = mutation({
  name: 'filterPreset.create',
  summary: 'Save filters under a name; as the default it replaces the previous default',
  role: 'EDITOR',
  audit: 'filterPreset.created',
  input: CreateFilterPreset,
  output: FilterPreset,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const { environmentId, scope, filters } = input;
    const name = input.name.trim();
    assertSize(filters);
    await lockEnvironment(ctx.db, environmentId);
    if ((await countPresets(ctx.db, environmentId, scope)) >= MAX_PRESETS)
      throw preconditionFailed(`There are ${MAX_PRESETS} presets in this scope; delete one first`);
    const createdById = ctx.actor.type === 'user' ? ctx.actor.userId : null;
    const id = await insertPreset(ctx.db, { environmentId, scope, name, filters, createdById });
    if (input.isDefault) {
      await clearDefaultPreset(ctx.db, environmentId, scope);
      await markDefaultPreset(ctx.db, id);
    }
    ctx.audit({
      entityType: 'FilterPreset',
      entityId: id,
      metadata: { name, scope, isDefault: input.isDefault ?? false },
    });
    await publishChange(ctx, environmentId);
    return getExisting(ctx, environmentId, id);
  },
});

export const update = mutation({
  name: 'filterPreset.update',
  summary: 'Rename a preset, or replace its filters',
  role: 'EDITOR',
  audit: 'filterPreset.updated',
  input: UpdateFilterPreset,
  output: FilterPreset,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, id, ...change }) {
    if (change.filters) assertSize(change.filters);
    await lockEnvironment(ctx.db, environmentId);
    const before = await getExisting(ctx, environmentId, id);
    const after = { name: change.name?.trim() ?? before.name, filters: change.filters ?? before.filters };
    await updatePreset(ctx.db, id, after);
    ctx.audit({
      entityType: 'FilterPreset',
      entityId: id,
      diff: diffOf(before, after),
      metadata: { name: after.name, scope: before.scope },
    });
    await publishChange(ctx, environmentId);
    return getExisting(ctx, environmentId, id);
  },
});

export const remove = mutation({
  name: 'filterPreset.delete',
  summary: 'Delete a preset',
  role: 'EDITOR',
  audit: 'filterPreset.deleted',
  input: FilterPresetId,
  output: Deleted,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, id }) {
    await lockEnvironment(ctx.db, environmentId);
    const { name, scope } = await getExisting(ctx, environmentId, id);
    await deletePreset(ctx.db, id);
    ctx.audit({ entityType: 'FilterPreset', entityId: id, metadata: { name, scope } });
    await publishChange(ctx, environmentId);
    return { deleted: true as const };
  },
});

export const setDefault = mutation({
  name: 'filterPreset.setDefault',
  summary: 'Make a preset the default of its list',
  role: 'EDITOR',
  audit: 'filterPreset.defaultSet',
  input: SetDefaultPreset,
  output: FilterPreset,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, id, scope }) {
    await lockEnvironment(ctx.db, environmentId);
    const preset = await getExisting(ctx, environmentId, id);
    // A preset of another list does not exist in this one.
    if (preset.scope !== scope) throw notFound('Filter preset');
    const previous = await clearDefaultPreset(ctx.db, environmentId, scope);
    await markDefaultPreset(ctx.db, id);
    ctx.audit({
      entityType: 'FilterPreset',
      entityId: id,
      ...(previous === id ? {} : { diff: { default: [previous, id] } }),
      metadata: { name: preset.name, scope },
    });
    await publishChange(ctx, environmentId);
    return { ...preset, isDefault: true };
  },
});

export const clearDefault = mutation({
  name: 'filterPreset.clearDefault',
  summary: 'Remove the default preset of a list',
  role: 'EDITOR',
  audit: 'filterPreset.defaultCleared',
  input: PresetsOfScope,
  output: Done,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, scope }) {
    await lockEnvironment(ctx.db, environmentId);
    const previous = await clearDefaultPreset(ctx.db, environmentId, scope);
    ctx.audit({
      entityType: previous === null ? 'Environment' : 'FilterPreset',
      entityId: previous ?? environmentId,
      ...(previous === null ? {} : { diff: { default: [previous, null] } }),
      metadata: { scope },
    });
    await publishChange(ctx, environmentId);
    return { ok: true as const };
  },
});
