/** What operators have said of a binding's objects and plans: words, holds, approvals. */
import type { Knex } from 'knex';
import type { OwnableKind } from '../../../../schemas/api/git-policy.ts';
import { nameKeyOf } from '../../../../schemas/manifests/index.ts';
import { newId } from '../../../platform/operation/ids.ts';

export type OverrideName = 'adopt' | 'suspend' | 'prune';

export interface OverrideRecord {
  kind: string;
  nameKey: string;
  word: OverrideName;
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

/** An ADMIN's word for one plan. */
export interface ApprovalRecord {
  /** Of the plan. */
  hash: string;
  /** The deeds of the plan, where a pass has begun to carry it out; null before. */
  begun: string[] | null;
}

export interface StoredOperatorInput {
  words: OverrideRecord[];
  holds: HoldRecord[];
  approvals: ApprovalRecord[];
}

export async function readStoredOperatorInput(db: Knex, bindingId: string): Promise<StoredOperatorInput> {
  return {
    words: await listOverrides(db, bindingId),
    holds: await listHolds(db, bindingId),
    approvals: await listApprovals(db, bindingId),
  };
}

export async function listOverrides(db: Knex, bindingId: string): Promise<OverrideRecord[]> {
  return db('git_object_words')
    .where({ binding_id: bindingId })
    .orderBy(['kind', 'name_key', 'word'])
    .select('kind', 'word', 'reason', { nameKey: 'name_key', by: 'said_by', at: 'said_at' });
}

/** Those that nobody has released. */
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

export interface Speaker {
  id: string | null;
  name: string;
}

export interface ObjectOfBinding {
  bindingId: string;
  kind: OwnableKind;
  nameKey: string;
}

/** The last word of one kind stands. */
export async function setOverride(
  tx: Knex,
  of: ObjectOfBinding,
  word: OverrideName,
  { by, reason }: { by: Speaker; reason: string },
): Promise<void> {
  await tx('git_object_words')
    .insert({
      binding_id: of.bindingId,
      kind: of.kind,
      name_key: of.nameKey,
      word,
      reason,
      said_by_id: by.id,
      said_by: by.name,
    })
    .onConflict(['binding_id', 'kind', 'name_key', 'word'])
    .merge();
}

/** False where nothing of it was said. */
export async function clearOverride(tx: Knex, of: ObjectOfBinding, word: OverrideName): Promise<boolean> {
  const { bindingId, kind, nameKey } = of;
  return (
    (await tx('git_object_words').where({ binding_id: bindingId, kind, name_key: nameKey, word }).delete()) >
    0
  );
}

/** Words that have been done, or are about nothing any more. */
export async function deleteOverrides(
  tx: Knex,
  bindingId: string,
  words: readonly Pick<OverrideRecord, 'kind' | 'nameKey' | 'word'>[],
): Promise<void> {
  if (words.length === 0) return;
  await tx.raw(
    `DELETE FROM git_object_words w USING unnest(?::text[], ?::text[], ?::text[]) AS done(kind, name_key, word)
     WHERE w.binding_id = ? AND w.kind = done.kind AND w.name_key = done.name_key AND w.word = done.word`,
    [words.map((one) => one.kind), words.map((one) => one.nameKey), words.map((one) => one.word), bindingId],
  );
}

/** Answers the id of the hold that stands now; the one there is where this very spec is held already. */
export async function insertHold(
  tx: Knex,
  of: ObjectOfBinding & { name: string; specHash: string },
  { by, reason }: { by: Speaker; reason: string },
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

/** Null where there is no such hold, or it was released already. */
export async function releaseHold(
  tx: Knex,
  bindingId: string,
  id: string,
  by: string,
): Promise<HoldRecord | null> {
  const [released] = await tx('git_holds')
    .where({ binding_id: bindingId, id, released_at: null })
    .update({ released_at: tx.fn.now(), released_by: by })
    .returning([
      'id',
      'kind',
      'name',
      'reason',
      'name_key as nameKey',
      'spec_hash as specHash',
      'created_by as by',
      'created_at as at',
    ]);
  return released ?? null;
}

/** Holds follow an object that git has renamed. */
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
    .select({ hash: 'plan_hash', begun: db.raw('CASE WHEN begun_at IS NOT NULL THEN deeds END') });
}

/** The plan that waits, with all that it would do. */
export async function approve(tx: Knex, bindingId: string, hash: string, by: Speaker): Promise<void> {
  await tx.raw(
    `INSERT INTO git_approvals (binding_id, plan_hash, deeds, approved_by_id, approved_by)
     SELECT id, ?, waiting_deeds, ?, ? FROM git_bindings WHERE id = ?
     ON CONFLICT (binding_id, plan_hash) DO NOTHING`,
    [hash, by.id, by.name, bindingId],
  );
}

/** From now on what is left of the plan is approved, too; null: no pass is about to carry one out. */
export async function beginApproved(tx: Knex, bindingId: string, hash: string | null): Promise<void> {
  await tx('git_approvals')
    .where({ binding_id: bindingId })
    .update({ begun_at: tx.raw('CASE WHEN plan_hash = ? THEN coalesce(begun_at, now()) END', [hash]) });
}

/** A plan was applied: what was approved is used, or was about another state. */
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
