/** What operators decided about a binding's objects and plans: overrides, holds, approvals. */
import type { Knex } from 'knex';
import type { OwnableKind } from '../../../../schemas/api/delivery/git-policy.ts';
import { nameKeyOf } from '../../../../schemas/manifests/index.ts';
import { newId } from '../../../platform/operation/ids.ts';

export type OverrideAction = 'adopt' | 'suspend' | 'prune';

export interface OverrideRecord {
  kind: string;
  nameKey: string;
  action: OverrideAction;
  reason: string;
  by: string;
  at: Date;
}

export interface HoldRecord {
  id: string;
  kind: string;
  nameKey: string;
  name: string;
  specHash: string;
  reason: string;
  by: string;
  at: Date;
}

/** An ADMIN's approval of one plan. */
export interface ApprovalRecord {
  /** The hash of the plan. */
  hash: string;
  /** Digests of the plan's actions once a pass has begun to apply it; null before. */
  begunActions: string[] | null;
}

export interface StoredOperatorInput {
  overrides: OverrideRecord[];
  holds: HoldRecord[];
  approvals: ApprovalRecord[];
}

export async function readStoredOperatorInput(db: Knex, bindingId: string): Promise<StoredOperatorInput> {
  return {
    overrides: await listOverrides(db, bindingId),
    holds: await listHolds(db, bindingId),
    approvals: await listApprovals(db, bindingId),
  };
}

export async function listOverrides(db: Knex, bindingId: string): Promise<OverrideRecord[]> {
  return db('object_overrides')
    .where({ binding_id: bindingId })
    .orderBy(['kind', 'name_key', 'action'])
    .select('kind', 'action', 'reason', { nameKey: 'name_key', by: 'set_by', at: 'set_at' });
}

/** Only holds that are not released. */
export async function listHolds(db: Knex, bindingId: string): Promise<HoldRecord[]> {
  return db('git_holds')
    .where({ binding_id: bindingId, released_at: null })
    .orderBy(['kind', 'name_key', 'created_at', 'id'])
    .select('id', 'kind', 'name', 'reason', {
      nameKey: 'name_key',
      specHash: 'spec_hash',
      by: 'created_by',
      at: 'created_at',
    });
}

export interface Operator {
  id: string | null;
  name: string;
}

export interface ObjectOfBinding {
  bindingId: string;
  kind: OwnableKind;
  nameKey: string;
}

/** Replaces an earlier override of the same object and action. */
export async function setOverride(
  tx: Knex,
  of: ObjectOfBinding,
  action: OverrideAction,
  { by, reason }: { by: Operator; reason: string },
): Promise<void> {
  await tx('object_overrides')
    .insert({
      binding_id: of.bindingId,
      kind: of.kind,
      name_key: of.nameKey,
      action,
      reason,
      set_by_id: by.id,
      set_by: by.name,
    })
    .onConflict(['binding_id', 'kind', 'name_key', 'action'])
    .merge();
}

/** Returns false when there is no such override. */
export async function clearOverride(tx: Knex, of: ObjectOfBinding, action: OverrideAction): Promise<boolean> {
  const { bindingId, kind, nameKey } = of;
  return (
    (await tx('object_overrides')
      .where({ binding_id: bindingId, kind, name_key: nameKey, action })
      .delete()) > 0
  );
}

/** Deletes overrides that are carried out, or whose object is gone. */
export async function deleteOverrides(
  tx: Knex,
  bindingId: string,
  done: readonly Pick<OverrideRecord, 'kind' | 'nameKey' | 'action'>[],
): Promise<void> {
  if (done.length === 0) return;
  await tx.raw(
    `DELETE FROM object_overrides o USING unnest(?::text[], ?::text[], ?::text[]) AS done(kind, name_key, action)
     WHERE o.binding_id = ? AND o.kind = done.kind AND o.name_key = done.name_key AND o.action = done.action`,
    [
      done.map(({ kind }) => kind),
      done.map(({ nameKey }) => nameKey),
      done.map(({ action }) => action),
      bindingId,
    ],
  );
}

/** Returns the id of the new hold, or of the existing one when this spec is held already. */
export async function insertHold(
  tx: Knex,
  of: ObjectOfBinding & { name: string; specHash: string },
  { by, reason }: { by: Operator; reason: string },
): Promise<string> {
  const id = newId();
  const { rows } = await tx.raw<{ rows: { id: string }[] }>(
    `INSERT INTO git_holds (id, binding_id, kind, name_key, name, spec_hash, reason, created_by_id, created_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (binding_id, kind, name_key, spec_hash) WHERE released_at IS NULL
     DO UPDATE SET reason = excluded.reason RETURNING id`,
    [id, of.bindingId, of.kind, of.nameKey, of.name, of.specHash, reason, by.id, by.name],
  );
  return rows[0]?.id ?? id;
}

/** Returns null when there is no such hold, or it was released before. */
export async function releaseHold(
  tx: Knex,
  bindingId: string,
  id: string,
  releasedBy: string,
): Promise<HoldRecord | null> {
  const [released] = await tx('git_holds')
    .where({ binding_id: bindingId, id, released_at: null })
    .update({ released_at: tx.fn.now(), released_by: releasedBy })
    .returning(['id', 'kind', 'name', 'reason', 'name_key', 'spec_hash', 'created_by', 'created_at']);
  if (!released) return null;
  const { name_key: nameKey, spec_hash: specHash, created_by: by, created_at: at, ...hold } = released;
  return { ...hold, nameKey, specHash, by, at };
}

/** Moves holds to the new names of objects that git renamed. */
export async function renameHolds(
  tx: Knex,
  bindingId: string,
  renamed: readonly { kind: string; from: string; name: string }[],
): Promise<void> {
  if (renamed.length === 0) return;
  await tx.raw(
    `UPDATE git_holds h SET name_key = r.to_key, name = r.name
     FROM unnest(?::text[], ?::text[], ?::text[], ?::text[]) AS r(kind, from_key, to_key, name)
     WHERE h.binding_id = ? AND h.kind = r.kind AND h.name_key = r.from_key AND h.released_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM git_holds o WHERE o.binding_id = h.binding_id AND o.kind = h.kind
         AND o.name_key = r.to_key AND o.spec_hash = h.spec_hash AND o.released_at IS NULL AND o.id <> h.id)`,
    [
      renamed.map(({ kind }) => kind),
      renamed.map(({ from }) => from),
      renamed.map(({ name }) => nameKeyOf(name)),
      renamed.map(({ name }) => name),
      bindingId,
    ],
  );
}

async function listApprovals(db: Knex, bindingId: string): Promise<ApprovalRecord[]> {
  return db('git_approvals')
    .where({ binding_id: bindingId })
    .select({ hash: 'plan_hash', begunActions: db.raw('CASE WHEN begun_at IS NOT NULL THEN actions END') });
}

/** Approves the plan that waits, with all of its actions. */
export async function insertApproval(tx: Knex, bindingId: string, hash: string, by: Operator): Promise<void> {
  await tx.raw(
    `INSERT INTO git_approvals (binding_id, plan_hash, actions, approved_by_id, approved_by)
     SELECT id, ?, waiting_actions, ?, ? FROM git_bindings WHERE id = ?
     ON CONFLICT (binding_id, plan_hash) DO NOTHING`,
    [hash, by.id, by.name, bindingId],
  );
}

/** From now on the rest of the plan counts as approved, too. Null: no pass is about to apply an approved plan. */
export async function beginApproved(tx: Knex, bindingId: string, hash: string | null): Promise<void> {
  await tx('git_approvals')
    .where({ binding_id: bindingId })
    .update({ begun_at: tx.raw('CASE WHEN plan_hash = ? THEN coalesce(begun_at, now()) END', [hash]) });
}

/** Called after a plan was applied: its approval is used up, and others were for another state. */
export async function dropApprovals(tx: Knex, bindingId: string): Promise<void> {
  await tx('git_approvals').where({ binding_id: bindingId }).delete();
}

export async function findApproval(
  db: Knex,
  bindingId: string,
  hash: string,
): Promise<{ by: string; at: Date } | null> {
  return (
    (await db('git_approvals')
      .where({ binding_id: bindingId, plan_hash: hash })
      .first({ by: 'approved_by', at: 'approved_at' })) ?? null
  );
}
