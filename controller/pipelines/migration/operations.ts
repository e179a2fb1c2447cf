/** Operations on migrations as a whole: list, read, create, delete; and the first step, which finds the blocks. */
import { isDeepStrictEqual } from 'node:util';
import { Deleted } from '../../../schemas/api/common.ts';
import {
  CreateMigration,
  ListMigrations,
  MAX_ORIGINAL_BYTES,
  Migration,
  MigrationId,
  MigrationList,
} from '../../../schemas/api/pipelines/migrations.ts';
import { teamScope } from '../../identity/access/index.ts';
import { lockTeam } from '../../identity/teams/index.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { AuditDiff } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { analyzeOriginal } from './analyze-original.ts';
import { withoutText } from './original/block-text.ts';
import { listHidden, withoutHidden } from './original/mask-original.ts';
import { openOriginal, presentMigration, presentSummary } from './presenter.ts';
import {
  countMigrations,
  deleteMigration,
  findMigration,
  insertMigration,
  listMigrations,
  lockMigration,
  type MigrationRecord,
  updateMigration,
} from './store.ts';

/** Limit per team, since the list is not paged. */
const MAX_MIGRATIONS = 200;
const MAX_PROBLEMS = 500;

export const ofTeam = (ctx: Context, input: { teamId: string }) => teamScope(ctx, input.teamId);

/** @throws NOT_FOUND, also for a migration of another team */
export async function getMigration(
  ctx: Pick<Context, 'db'>,
  { id, teamId }: MigrationId,
): Promise<MigrationRecord> {
  const record = await findMigration(ctx.db, teamId, id);
  if (!record) throw notFound('Migration');
  return record;
}

/** Locks it until the transaction ends. @throws NOT_FOUND */
export async function lockFound(ctx: MutationContext, { id, teamId }: MigrationId): Promise<MigrationRecord> {
  const record = await lockMigration(ctx.db, teamId, id);
  if (!record) throw notFound('Migration');
  return record;
}

/** The audit row and the signal of a change. Neither holds anything of the configurations. */
export async function publishMigrationChange(
  ctx: MutationContext,
  { id, teamId, name }: Pick<MigrationRecord, 'id' | 'teamId' | 'name'>,
  metadata: Record<string, unknown> = {},
  diff?: AuditDiff,
): Promise<void> {
  ctx.audit({ entityType: 'Migration', entityId: id, teamId, diff, metadata: { name, ...metadata } });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['library'] });
}

export const list = query({
  name: 'migration.list',
  summary: 'Migrations of a team, the newest first, without their texts',
  role: 'VIEWER',
  input: ListMigrations,
  output: MigrationList,
  scope: ofTeam,
  async run(ctx, { teamId }) {
    const records = await listMigrations(ctx.db, teamId, MAX_MIGRATIONS);
    return records.map((record) => presentSummary(ctx, record));
  },
});

export const get = query({
  name: 'migration.get',
  summary: 'One migration: the original, its blocks, what each becomes, and the last validation',
  role: 'VIEWER',
  input: MigrationId,
  output: Migration,
  scope: ofTeam,
  run: async (ctx, input) => presentMigration(ctx, await getMigration(ctx, input)),
});

export const create = mutation({
  name: 'migration.create',
  summary: 'Begin a migration with a configuration of another product',
  role: 'EDITOR',
  audit: 'migration.created',
  input: CreateMigration,
  output: Migration,
  scope: ofTeam,
  async run(ctx, { teamId, platform, originalConfig, ...input }) {
    const name = input.name.trim();
    const bytes = Buffer.byteLength(originalConfig);
    if (bytes > MAX_ORIGINAL_BYTES)
      throw badRequest(
        `originalConfig has ${bytes} bytes, the limit is ${MAX_ORIGINAL_BYTES}; migrate its files one by one`,
      );
    if (originalConfig.includes('\0'))
      throw badRequest('originalConfig holds a zero byte, so it is not a text; choose another file');
    await lockTeam(ctx.db, teamId);
    if ((await countMigrations(ctx.db, teamId)) >= MAX_MIGRATIONS)
      throw preconditionFailed(`This team has ${MAX_MIGRATIONS} migrations; delete some first`);
    const id = newId();
    const text = originalConfig.replaceAll('\r\n', '\n');
    await insertMigration(ctx.db, {
      ...{ id, teamId, name, platform, bytes, createdBy: nameOfActor(ctx.actor) },
      sealedOriginal: ctx.services.keyring.seal(text, sealingContext('config_migrations', id)),
      at: new Date(ctx.clock.now()),
    });
    await publishMigrationChange(ctx, { id, teamId, name }, { platform, bytes });
    return presentMigration(ctx, await getMigration(ctx, { id, teamId }));
  },
});

export const remove = mutation({
  name: 'migration.delete',
  summary: 'Delete a migration with its original; what was generated stays',
  role: 'EDITOR',
  audit: 'migration.deleted',
  input: MigrationId,
  output: Deleted,
  scope: ofTeam,
  async run(ctx, { id, teamId }) {
    const name = await deleteMigration(ctx.db, teamId, id);
    if (name === null) throw notFound('Migration');
    await publishMigrationChange(ctx, { id, teamId, name });
    return { deleted: true as const };
  },
});

export const parse = mutation({
  name: 'migration.parse',
  summary: 'Find the blocks of the original and the problems of its text',
  role: 'EDITOR',
  audit: 'migration.parsed',
  input: MigrationId,
  output: Migration,
  scope: ofTeam,
  async prepare(ctx, input) {
    const text = openOriginal(ctx, await getMigration(ctx, input));
    return { text, ...(await analyzeOriginal(text, ctx.signal)) };
  },
  async run(ctx, input, { text, blocks: found, problems: foundProblems }) {
    const record = await lockFound(ctx, input);
    const blocks = found.map(withoutText);
    const hidden = listHidden(text);
    const problems = foundProblems
      .slice(0, MAX_PROBLEMS)
      .map((problem) => ({ ...problem, message: withoutHidden(problem.message, hidden) }));
    // What was translated stays while the blocks are the same.
    const isSame = record.status !== 'CREATED' && isDeepStrictEqual(record.blocks, blocks);
    const reset = { status: 'PARSED', translations: [], validation: null } as const;
    await updateMigration(
      ctx.db,
      record.id,
      { blocks, problems, ...(isSame ? {} : { ...reset, translations: [] }) },
      new Date(ctx.clock.now()),
    );
    await publishMigrationChange(ctx, record, { blocks: blocks.length, problems: problems.length });
    return presentMigration(ctx, await getMigration(ctx, input));
  },
});
