/** Changes by users: of UI-owned objects in the database, of git-owned ones by the environment's policy. */
import type { Knex } from 'knex';
import type { OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';
import type { Context, MutationContext, RollbackOutcome } from '../../platform/operation/context.ts';
import { DomainError, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { findManifestOf, lockRow, NOUNS, type OwnedTable } from './store.ts';

export interface EditableRow {
  id: string;
  environmentId: string;
  name: string;
}

const KINDS: Record<OwnedTable, OwnableKind> = {
  pipelines: 'Pipeline',
  alert_rules: 'AlertRule',
  node_groups: 'NodeGroup',
  alert_silences: 'Silence',
  webhook_endpoints: 'WebhookEndpoint',
};

/**
 * Locks the row until the transaction ends. When git owns it and the policy turns changes into commits or proposals, the
 * operation goes on as if the UI owned it; its change is then rolled back and written to git instead.
 * @throws NOT_FOUND when it is gone; PRECONDITION_FAILED with path and line when a manifest describes it and the policy refuses
 * changes
 */
export async function lockEditable(
  ctx: MutationContext,
  table: OwnedTable,
  id: string,
): Promise<EditableRow> {
  const row = await lockLiving(ctx, table, id);
  if (row.managedBy === 'git') await toGit(ctx, table, row);
  return row;
}

/** Like `lockEditable`, for changes that no manifest can express: those of git-owned objects are refused by every policy. */
export async function lockHandmade(
  ctx: MutationContext,
  table: OwnedTable,
  id: string,
): Promise<EditableRow> {
  const row = await lockLiving(ctx, table, id);
  if (row.managedBy === 'git') throw await describedInGit(ctx.db, table, row);
  return row;
}

async function lockLiving(ctx: MutationContext, table: OwnedTable, id: string) {
  const noun = NOUNS[table];
  const row = await lockRow(ctx.db, table, id);
  if (!row) throw notFound(`${noun[0]?.toUpperCase()}${noun.slice(1)}`);
  return row;
}

/** Checks before any work what `lockEditable` checks later. */
export async function assertEditable(
  ctx: Context,
  table: OwnedTable,
  row: EditableRow & { managedBy: 'ui' | 'git' },
): Promise<void> {
  if (row.managedBy !== 'git') return;
  if ((await editsBecome(ctx, row.environmentId)) === 'refuse')
    throw await describedInGit(ctx.db, table, row);
}

/** A proposal changes nothing before somebody merges it, so no policy refuses those of a caller who can make nothing else. */
const editsBecome = (ctx: Context, environmentId: string) =>
  ctx.onlyProposals === undefined
    ? ctx.services.git.editsBecome(ctx.db, environmentId)
    : ('propose' as const);

async function toGit(ctx: MutationContext, table: OwnedTable, row: EditableRow): Promise<void> {
  const { git } = ctx.services;
  const { id, environmentId } = row;
  const become = await editsBecome(ctx, environmentId);
  if (become === 'refuse') throw await describedInGit(ctx.db, table, row);
  const kind = KINDS[table];
  const before = await git.manifestOf(ctx.db, kind, id);
  if (!before) throw notFound(kind);
  ctx.rollBack(id, async (inside) => {
    const after = await git.manifestOf(inside.db, kind, id);
    return async (outside): Promise<RollbackOutcome> => {
      const change = { objectId: id, operation: ctx.operation, before, after };
      const entry = { entityType: kind, entityId: id, environmentId };
      const metadata = { name: row.name, operation: ctx.operation };
      try {
        if (become === 'commit') {
          const { committed, fields } = await git.writeBack(outside, environmentId, change);
          const where = { path: committed.path, line: committed.line, fields };
          return {
            action: 'gitSync.committed',
            entry: { ...entry, commitSha: committed.sha, metadata: { ...metadata, ...where } },
            result: { output: { committed } },
          };
        }
        const { proposed, fields } = await git.propose(outside, environmentId, change);
        return {
          action: 'gitSync.proposed',
          entry: {
            ...entry,
            metadata: { ...metadata, number: proposed.number, branch: proposed.branch, fields },
          },
          result: { output: { proposed } },
        };
      } catch (error) {
        // Two users changed one field differently: the audit log has it, not only the answer to the second one.
        if (!(error instanceof DomainError) || error.code !== 'CONFLICT') throw error;
        return { action: 'gitSync.conflict', entry: { ...entry, metadata }, result: { refusal: error } };
      }
    };
  });
}

/** The refusal of a manual change of a git-owned object. */
export async function describedInGit(db: Knex, table: OwnedTable, row: { id: string; name: string }) {
  const manifest = await findManifestOf(db, row.id);
  const where = manifest ? ` (${manifest.path}:${manifest.line})` : '';
  return preconditionFailed(
    `The ${NOUNS[table]} "${row.name}" is described in git${where}; change it there and push, and it follows`,
    { managedBy: 'git', path: manifest?.path ?? null, line: manifest?.line ?? null },
  );
}
