/** Overrides git for one object at once: the change is made in the database, and a hold keeps git from reverting it. */
import type { Knex } from 'knex';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { lockRow, NOUNS, type OwnedTable } from './store.ts';

/** Proposes a rollback of a pipeline to git. */
export const ROLLED_BACK_JOB = 'propose-rollback';

interface Described {
  bindingId: string;
  kind: string;
  nameKey: string;
  name: string;
  seenHash: string | null;
  appliedHash: string | null;
}
/**
 * Locks the row until the transaction ends. For a git-owned row it also holds the spec that git has now, so that git does not
 * revert the change that follows; a newer spec is applied. `only` is the hash of the one spec to hold, for cases in which git
 * may have a newer one by now. Returns whether git owns the row.
 * @throws NOT_FOUND; PRECONDITION_FAILED when a running pass has not recorded the object yet
 */
export async function lockHolding(
  ctx: MutationContext,
  table: OwnedTable,
  id: string,
  reason: string,
  only?: string,
): Promise<boolean> {
  const noun = NOUNS[table];
  const row = await lockRow(ctx.db, table, id);
  if (!row) throw notFound(`${noun[0]?.toUpperCase()}${noun.slice(1)}`);
  if (row.managedBy !== 'git') return false;
  const line = await findDescribed(ctx.db, id);
  const specs = only === undefined ? line && (await listSpecsToHold(ctx.db, line, row.specHash)) : [only];
  const hashes = new Set(specs);
  if (!line || hashes.size === 0)
    throw preconditionFailed(
      `The ${noun} "${row.name}" is just being applied from git; try again in a moment`,
    );
  for (const specHash of hashes) await insertHold(ctx, line, specHash, reason);
  const { environmentId } = row;
  ctx.audit({
    action: 'gitSync.held',
    entityType: line.kind,
    entityId: id,
    environmentId,
    metadata: { name: line.name, specHash: [...hashes][0], reason },
  });
  const { bus } = ctx.services;
  await bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger: 'held' });
  await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['git'] });
  return true;
}

async function findDescribed(tx: Knex, objectId: string): Promise<Described | undefined> {
  return tx('git_manifests').where({ object_id: objectId }).first('kind', 'name', {
    bindingId: 'binding_id',
    nameKey: 'name_key',
    seenHash: 'seen_hash',
    appliedHash: 'applied_hash',
  });
}

/** Hashes of the specs to hold, that of the newest commit first. Empty while only the running pass knows what git has. */
async function listSpecsToHold(
  tx: Knex,
  line: Described,
  rowHash: string | null,
): Promise<readonly string[]> {
  const { seenHash, appliedHash } = line;
  // Git may go back to the spec before the newest commit, so both are held.
  if (appliedHash !== null) return seenHash === null ? [appliedHash] : [seenHash, appliedHash];
  // A pass has written the row and recorded nothing yet: the hash that was seen is that of an older commit.
  if (rowHash !== null) return [rowHash];
  // The row was changed by hand since then. If that was under a hold, the same spec stays held.
  const { bindingId, kind, nameKey } = line;
  const hold = await tx('git_holds')
    .where({ binding_id: bindingId, kind, name_key: nameKey, released_at: null })
    .orderBy('created_at', 'desc')
    .first({ specHash: 'spec_hash' });
  return hold ? [hold.specHash] : [];
}

async function insertHold(
  { db, actor }: MutationContext,
  { bindingId, kind, nameKey, name }: Described,
  specHash: string,
  reason: string,
): Promise<void> {
  await db.raw(
    `INSERT INTO git_holds (id, binding_id, kind, name_key, name, spec_hash, reason, created_by_id, created_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (binding_id, kind, name_key, spec_hash) WHERE released_at IS NULL
     DO UPDATE SET reason = excluded.reason`,
    [
      ...[newId(), bindingId, kind, nameKey, name, specHash, reason],
      actor.type === 'user' ? actor.userId : null,
      nameOfActor(actor),
    ],
  );
}
