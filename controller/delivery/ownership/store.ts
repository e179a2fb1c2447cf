/**
 * Rows that git may own, in one table for each kind. A row has a name and perhaps a uid in its environment, an owner, and the
 * hash of the spec that git applied; its tombstone stays for a day. Everything works on many rows at once.
 */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';

export const OWNED_TABLES = [
  'pipelines',
  'alert_rules',
  'node_groups',
  'alert_silences',
  'webhook_endpoints',
] as const;
export type OwnedTable = (typeof OWNED_TABLES)[number];

/** What users call a row of the table. */
export const NOUNS: Record<OwnedTable, string> = {
  pipelines: 'pipeline',
  alert_rules: 'alert rule',
  node_groups: 'node group',
  alert_silences: 'silence',
  webhook_endpoints: 'webhook endpoint',
};

/** Identifies the row of a manifest. */
export interface Claim {
  /** The row of the manifest's identity; null when git has not applied it before. */
  objectId: string | null;
  name: string;
  uid: string | null;
}

export interface OwnedRow {
  id: string;
  name: string;
  uid: string | null;
  labels: LabelMap;
  managedBy: 'ui' | 'git';
  createdAt: Date;
  tombstonedAt: Date | null;
}

/**
 * Marks the writes of the transaction as the reconciler's own: they count as no drift, and no pass has to read them again (see
 * the triggers of migration 0002).
 */
export async function writeAsReconciler(tx: Knex): Promise<void> {
  await tx.raw("SELECT set_config('headgate.reconciler', 'on', true)");
}

/**
 * The row of each claim, locked until the transaction ends: the known one; one from a pass that died before it recorded it; or
 * a tombstone that comes back. Null for a row that has to be inserted.
 * @throws PRECONDITION_FAILED, reason Conflict, when a living UI-owned row has the name
 */
export async function lockClaimed(
  tx: Knex,
  table: OwnedTable,
  environmentId: string,
  claims: readonly Claim[],
): Promise<(OwnedRow | null)[]> {
  await writeAsReconciler(tx);
  const { rows } = await tx.raw<{ rows: (OwnedRow & { recorded: boolean })[] }>(
    `SELECT id, name, uid, labels, managed_by AS "managedBy", created_at AS "createdAt", tombstoned_at AS "tombstonedAt",
       EXISTS (SELECT 1 FROM git_manifests m WHERE m.object_id = o.id) AS recorded
     FROM ?? o WHERE environment_id = ? AND (tombstoned_at IS NULL OR managed_by = 'git') AND (id = ANY(?) OR lower(name) IN (SELECT lower(n) FROM unnest(?::text[]) n)
       OR uid = ANY(?))
     ORDER BY id FOR UPDATE OF o`,
    [
      table,
      environmentId,
      claims.flatMap(({ objectId }) => objectId ?? []),
      claims.map(({ name }) => name),
      claims.flatMap(({ uid }) => uid ?? []),
    ],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const taken = new Set(claims.map(({ objectId }) => objectId));
  const living = new Map<string, (typeof rows)[number]>();
  const tombstoned: OwnedRow[] = [];
  for (const row of rows) {
    if (taken.has(row.id)) continue;
    if (row.tombstonedAt === null) living.set(nameKeyOf(row.name), row);
    else tombstoned.push(row);
  }
  // A uid takes precedence over a name, as in a plan.
  const byUid = new Map<string, OwnedRow>();
  for (const row of living.values())
    if (
      row.uid !== null &&
      row.managedBy === 'git' &&
      !row.recorded &&
      claims.some(({ uid }) => uid === row.uid)
    )
      byUid.set(row.uid, row);
  for (const row of byUid.values()) living.delete(nameKeyOf(row.name));
  const uids = new Set(claims.map(({ uid }) => uid));
  tombstoned.sort((a, b) => Number(b.tombstonedAt) - Number(a.tombstonedAt));
  return claims.map((claim) => {
    const known = claim.objectId === null ? undefined : byId.get(claim.objectId);
    if (known) return known;
    const itself = claim.uid === null ? undefined : byUid.get(claim.uid);
    if (itself) return itself;
    const namesake = living.get(nameKeyOf(claim.name));
    if (namesake?.managedBy === 'git' && !namesake.recorded) return namesake;
    if (namesake?.managedBy === 'git') {
      throw preconditionFailed(
        `the name "${namesake.name}" still belongs to another ${NOUNS[table]} that git owns; this one is applied after that one is renamed or deleted`,
        { reason: 'Blocked' },
      );
    }
    if (namesake) {
      throw preconditionFailed(
        `a ${NOUNS[table]} named "${namesake.name}" exists already and is owned by the UI; rename one of the two, or delete that one in the UI`,
        { reason: 'Conflict' },
      );
    }
    const byItsUid = claim.uid === null ? undefined : tombstoned.find((row) => row.uid === claim.uid);
    const isFree = ({ uid }: OwnedRow) => uid === null || !uids.has(uid);
    const back =
      byItsUid ?? tombstoned.find((row) => isFree(row) && nameKeyOf(row.name) === nameKeyOf(claim.name));
    if (back) tombstoned.splice(tombstoned.indexOf(back), 1);
    return back ?? null;
  });
}

/** The kind's own columns with their SQL types. */
export type ColumnTypes = Readonly<Record<string, string>>;

export interface OwnedWrite {
  /** From `lockClaimed`. */
  row: OwnedRow | null;
  /** Used when the row has to be inserted. */
  newId: string;
  name: string;
  uid: string | null;
  labels: LabelMap;
  specHash: string;
  /** By column name; JSON values are not serialized. */
  columns: Readonly<Record<string, unknown>>;
}

const COMMON: ColumnTypes = { id: 'text', name: 'text', uid: 'text', labels: 'jsonb', spec_hash: 'text' };

/** Makes the rows match the writes, living and owned by git. */
export async function writeOwned(
  tx: Knex,
  table: OwnedTable,
  environmentId: string,
  types: ColumnTypes,
  writes: readonly OwnedWrite[],
): Promise<void> {
  const columns = Object.entries({ ...COMMON, ...types });
  const names = columns.map(([column]) => column);
  const source = `jsonb_to_recordset(?::jsonb) AS r(${columns.map(([column, type]) => `${column} ${type}`).join(', ')})`;
  const record = (write: OwnedWrite) => ({
    id: write.row?.id ?? write.newId,
    name: write.name,
    uid: write.uid,
    labels: write.labels,
    spec_hash: write.specHash,
    ...write.columns,
  });
  const made = writes.filter(({ row }) => row === null);
  const existing = writes.filter(({ row }) => row !== null);
  try {
    await freeNames(tx, table, existing);
    if (existing.length > 0) {
      await clearAppliedHashes(
        tx,
        existing.flatMap(({ row }) => row?.id ?? []),
      );
      const set = names.filter((column) => column !== 'id').map((column) => `${column} = r.${column}`);
      await tx.raw(
        `UPDATE ${table} t SET ${set.join(', ')}, managed_by = 'git', tombstoned_at = NULL, updated_at = now()
         FROM ${source} WHERE t.id = r.id`,
        [JSON.stringify(existing.map(record))],
      );
    }
    if (made.length > 0) {
      await tx.raw(
        `INSERT INTO ${table} (environment_id, managed_by, ${names.join(', ')})
         SELECT ?, 'git', ${names.map((column) => `r.${column}`).join(', ')} FROM ${source}`,
        [environmentId, JSON.stringify(made.map(record))],
      );
    }
  } catch (error) {
    throw explainConflict(error, table, writes);
  }
}

/**
 * The applied hash of these rows is unknown until the pass records its result. Otherwise, after a pass that dies before that
 * and a manifest that goes back to its old spec, there would seem to be nothing to do.
 */
async function clearAppliedHashes(tx: Knex, ids: readonly string[]): Promise<void> {
  await tx('git_manifests').whereIn('object_id', ids).update({ applied_hash: null });
}

/** Names are unique at every moment: rows that swap names give up the old ones first. */
async function freeNames(tx: Knex, table: OwnedTable, existing: readonly OwnedWrite[]): Promise<void> {
  const wanted = new Set(existing.map(({ name }) => nameKeyOf(name)));
  const moving = existing.flatMap(({ row, name }) =>
    row &&
    row.tombstonedAt === null &&
    nameKeyOf(row.name) !== nameKeyOf(name) &&
    wanted.has(nameKeyOf(row.name))
      ? [row.id]
      : [],
  );
  if (moving.length > 0)
    await tx(table)
      .whereIn('id', moving)
      .update({ name: tx.ref('id') });
}

function explainConflict(error: unknown, table: OwnedTable, writes: readonly OwnedWrite[]): unknown {
  if (brokeUnique(error, `${table}_name_unique`)) {
    const which = writes.length === 1 ? `named "${writes[0]?.name}"` : 'of one of these names';
    return conflict(`A ${NOUNS[table]} ${which} exists already in this environment`);
  }
  if (brokeUnique(error, `${table}_uid_unique`))
    return conflict(`Another ${NOUNS[table]} of this environment has the same uid`);
  return error;
}

/** Names of the living UI-owned rows, which manifests may refer to. */
export async function namesOwnedByUi(db: Knex, table: OwnedTable, environmentId: string): Promise<string[]> {
  const names: (string | null)[] = await db(table)
    .where({ environment_id: environmentId, managed_by: 'ui', tombstoned_at: null })
    .pluck('name');
  return names.filter((name) => name !== null);
}

/** Whether there are notes about changes by others in the environment. The reader of everything deletes them first. */
export async function hasObjectChanges(db: Knex, environmentId: string): Promise<boolean> {
  return (await db('object_changes').where({ environment_id: environmentId }).first('at')) !== undefined;
}

/** Only the leader may delete them: call it in a transaction that has asked the fence. */
export async function deleteObjectChanges(tx: Knex, environmentId: string): Promise<void> {
  await tx('object_changes').where({ environment_id: environmentId }).delete();
}

export interface LockedRow {
  id: string;
  environmentId: string;
  name: string;
  managedBy: 'ui' | 'git';
  /** Of the spec that git applied to the row; null once anybody else has changed the row. */
  specHash: string | null;
}

/** Locks the row; null when it is gone or tombstoned. */
export async function lockRow(tx: Knex, table: OwnedTable, id: string): Promise<LockedRow | null> {
  const row = await tx(table).where({ id, tombstoned_at: null }).forUpdate().first({
    id: 'id',
    environmentId: 'environment_id',
    name: 'name',
    managedBy: 'managed_by',
    specHash: 'spec_hash',
  });
  // Endpoints of a team are in no environment: git does not own them, and no caller asks for one.
  if (!row || row.environmentId === null || row.name === null) return null;
  return { ...row, environmentId: row.environmentId, name: row.name };
}

/** Path and line of the manifest of a git-owned object. */
export async function findManifestOf(
  db: Knex,
  objectId: string,
): Promise<{ path: string; line: number } | null> {
  return (await db('git_manifests').where({ object_id: objectId }).first('path', 'line')) ?? null;
}

/** Tombstones the row; `more` are further columns to set. */
export async function bury(
  tx: Knex,
  table: OwnedTable,
  id: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await writeAsReconciler(tx);
  await tx(table)
    .where({ id })
    .update({ ...more, tombstoned_at: tx.fn.now(), updated_at: tx.fn.now() });
}

/** Deletes a tombstoned row for good, unless something restored it meanwhile. */
export async function purgeTombstone(db: Knex, table: OwnedTable, id: string): Promise<boolean> {
  return (await db(table).where({ id }).whereNotNull('tombstoned_at').delete()) > 0;
}

/** Gives everything that git owns in an environment to the UI. */
export async function releaseFromGit(db: Knex, environmentId: string): Promise<void> {
  for (const table of OWNED_TABLES) {
    await db(table)
      .where({ environment_id: environmentId, managed_by: 'git', tombstoned_at: null })
      .update({ managed_by: 'ui' });
  }
}
