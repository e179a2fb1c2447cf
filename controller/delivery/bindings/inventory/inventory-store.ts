/** The inventory of a binding: its manifests with the state of their objects in the database, and its import errors. */
import type { Knex } from 'knex';
import type { Condition } from '../../../../schemas/api/common.ts';
import type { ImportError } from '../../../../schemas/api/delivery/git-sync.ts';
import { nameKeyOf } from '../../../../schemas/manifests/index.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { ACTIVE_ROLLOUT } from '../../rollouts/index.ts';
import { renameHolds } from '../overrides/overrides-store.ts';

export interface ManifestRecord {
  kind: string;
  nameKey: string;
  name: string;
  uid: string | null;
  path: string;
  line: number;
  objectId: string | null;
  appliedHash: string | null;
  /** The rest of what was applied: labels, uid, editor data. */
  appliedMeta: string | null;
  appliedCommit: string | null;
  seenHash: string | null;
  seenCommit: string | null;
  prunePolicy: 'auto' | 'confirm' | 'never';
  prunePending: boolean;
  conditions: Condition[];
}

export interface InventoryRecord extends ManifestRecord {
  /** The name of the object. It differs from the line's name when a pass renamed the object and died before it recorded that. */
  objectName: string | null;
  /** The spec hash of the object in the database; null without a living object, or after somebody else changed it. */
  objectHash: string | null;
  /** Whether its newest version runs, at least on canary nodes; false for a draft, true for kinds without versions, null without an object. */
  objectDeployed: boolean | null;
  objectVersion: number | null;
}

const MANIFEST_COLUMNS = `m.kind, m.name_key AS "nameKey", m.name, m.uid, m.path, m.line, m.object_id AS "objectId",
  m.applied_hash AS "appliedHash", m.applied_meta AS "appliedMeta",
  m.applied_commit AS "appliedCommit", m.seen_hash AS "seenHash",
  m.seen_commit AS "seenCommit", m.prune_policy AS "prunePolicy", m.prune_pending AS "prunePending", m.conditions`;

const OBJECT_FACTS = `coalesce(p.name, r.name, g.name, s.name, w.name) AS "objectName",
  coalesce(p.spec_hash, r.spec_hash, g.spec_hash, s.spec_hash, w.spec_hash) AS "objectHash", v.version AS "objectVersion",
  CASE WHEN p.id IS NOT NULL
      THEN NOT p.is_draft AND coalesce(ro.canary_version_id, p.deployed_version_id) IS NOT DISTINCT FROM p.latest_version_id
    WHEN coalesce(r.id, g.id, s.id, w.id) IS NOT NULL THEN true END AS "objectDeployed"`;

const JOIN_OBJECTS = (kind: string, id: string) =>
  `LEFT JOIN pipelines p ON p.id = ${id} AND ${kind} = 'Pipeline' AND p.tombstoned_at IS NULL
   LEFT JOIN rollouts ro ON ro.pipeline_id = p.id AND ro.${ACTIVE_ROLLOUT}
   LEFT JOIN pipeline_versions v ON v.id = p.latest_version_id
   LEFT JOIN alert_rules r ON r.id = ${id} AND ${kind} = 'AlertRule' AND r.tombstoned_at IS NULL
   LEFT JOIN node_groups g ON g.id = ${id} AND ${kind} = 'NodeGroup' AND g.tombstoned_at IS NULL
   LEFT JOIN alert_silences s ON s.id = ${id} AND ${kind} = 'Silence' AND s.tombstoned_at IS NULL
   LEFT JOIN webhook_endpoints w ON w.id = ${id} AND ${kind} = 'WebhookEndpoint' AND w.tombstoned_at IS NULL`;

/** One line of the inventory. */
export async function readLine(
  db: Knex,
  bindingId: string,
  kind: string,
  nameKey: string,
): Promise<InventoryRecord | null> {
  const { rows } = await db.raw<{ rows: InventoryRecord[] }>(
    `SELECT ${MANIFEST_COLUMNS}, ${OBJECT_FACTS} FROM git_manifests m ${JOIN_OBJECTS('m.kind', 'm.object_id')}
     WHERE m.binding_id = ? AND m.kind = ? AND m.name_key = ?`,
    [bindingId, kind, nameKey],
  );
  return rows[0] ?? null;
}

/** The inventory with the state of each object; includes git-owned objects that have no line. */
export async function readInventory(db: Knex, bindingId: string): Promise<InventoryRecord[]> {
  const { rows } = await db.raw<{ rows: InventoryRecord[] }>(
    `SELECT ${MANIFEST_COLUMNS}, ${OBJECT_FACTS} FROM git_manifests m ${JOIN_OBJECTS('m.kind', 'm.object_id')}
     WHERE m.binding_id = ?`,
    [bindingId],
  );
  const lines = new Map(rows.map((row) => [`${row.kind}/${row.nameKey}`, row]));
  for (const found of await listUnrecorded(db, bindingId)) {
    const key = `${found.kind}/${found.nameKey}`;
    const line = lines.get(key);
    if (line && line.objectId !== null) continue;
    const { objectId, objectName, objectHash, objectVersion, objectDeployed } = found;
    const facts = { objectId, objectName, objectHash, objectVersion, objectDeployed };
    lines.set(key, line ? { ...line, ...facts } : found);
  }
  return [...lines.values()];
}

/**
 * Whether a pass renamed the object of the line and died before it recorded that. After a rename by somebody else the line
 * still knows what was applied, and stays as it is.
 */
export const isUnrecordedRename = ({ appliedHash, objectName, nameKey }: InventoryRecord): boolean =>
  appliedHash === null && objectName !== null && nameKeyOf(objectName) !== nameKey;

/** Moves such lines to the names of their objects. A line that has that name already describes no living object. */
export async function recordRenames(
  tx: Knex,
  bindingId: string,
  renamed: readonly InventoryRecord[],
): Promise<void> {
  const moved = renamed.map((line) => {
    const name = line.objectName ?? line.name;
    return { ...line, name, nameKey: nameKeyOf(name) };
  });
  await deleteManifests(tx, bindingId, renamed);
  await upsertManifests(tx, bindingId, moved);
  await renameHolds(
    tx,
    bindingId,
    renamed.map(({ kind, nameKey, name, objectName }) => ({ kind, from: nameKey, name: objectName ?? name })),
  );
}

/** Git-owned objects without a line in the inventory: a pass applied them and died before it recorded that. */
async function listUnrecorded(db: Knex, bindingId: string): Promise<InventoryRecord[]> {
  const { rows } = await db.raw<{ rows: (ObjectOf & ObjectFacts)[] }>(
    `WITH owned AS (
       SELECT 'Pipeline' AS kind, id, name, uid, environment_id, managed_by, tombstoned_at FROM pipelines
       UNION ALL SELECT 'AlertRule', id, name, uid, environment_id, managed_by, tombstoned_at FROM alert_rules
       UNION ALL SELECT 'NodeGroup', id, name, uid, environment_id, managed_by, tombstoned_at FROM node_groups
       UNION ALL SELECT 'Silence', id, name, uid, environment_id, managed_by, tombstoned_at FROM alert_silences
       UNION ALL SELECT 'WebhookEndpoint', id, name, uid, environment_id, managed_by, tombstoned_at FROM webhook_endpoints)
     SELECT o.kind, o.id AS "objectId", o.name, o.uid, ${OBJECT_FACTS}
     FROM git_bindings b JOIN owned o ON o.environment_id = b.environment_id ${JOIN_OBJECTS('o.kind', 'o.id')}
     WHERE b.id = ? AND o.managed_by = 'git' AND o.tombstoned_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM git_manifests m WHERE m.object_id = o.id)`,
    [bindingId],
  );
  return rows.map((row) => ({ ...UNRECORDED, ...row, nameKey: nameKeyOf(row.name) }));
}

type ObjectOf = Pick<InventoryRecord, 'kind' | 'objectId' | 'name' | 'uid'>;
type ObjectFacts = Pick<InventoryRecord, 'objectName' | 'objectHash' | 'objectVersion' | 'objectDeployed'>;

const UNRECORDED = {
  path: '',
  line: 1,
  appliedHash: null,
  appliedMeta: null,
  appliedCommit: null,
  seenHash: null,
  seenCommit: null,
  prunePolicy: 'auto',
  prunePending: false,
  conditions: [],
} as const satisfies Partial<InventoryRecord>;

export async function listManifests(db: Knex, bindingId: string): Promise<ManifestRecord[]> {
  const { rows } = await db.raw<{ rows: ManifestRecord[] }>(
    `SELECT ${MANIFEST_COLUMNS} FROM git_manifests m WHERE m.binding_id = ? ORDER BY m.kind DESC, m.name_key`,
    [bindingId],
  );
  return rows;
}

const CHUNK = 500;

export async function upsertManifests(
  tx: Knex,
  bindingId: string,
  records: readonly ManifestRecord[],
): Promise<void> {
  for (let start = 0; start < records.length; start += CHUNK) {
    await tx('git_manifests')
      .insert(
        records.slice(start, start + CHUNK).map((record) => ({
          binding_id: bindingId,
          kind: record.kind,
          name_key: record.nameKey,
          name: record.name,
          uid: record.uid,
          path: record.path,
          line: record.line,
          object_id: record.objectId,
          applied_hash: record.appliedHash,
          applied_meta: record.appliedMeta,
          applied_commit: record.appliedCommit,
          seen_hash: record.seenHash,
          seen_commit: record.seenCommit,
          prune_policy: record.prunePolicy,
          prune_pending: record.prunePending,
          conditions: JSON.stringify(record.conditions),
          updated_at: tx.fn.now(),
        })),
      )
      .onConflict(['binding_id', 'kind', 'name_key'])
      .merge();
  }
}

export async function deleteManifests(
  tx: Knex,
  bindingId: string,
  identities: readonly { kind: string; nameKey: string }[],
): Promise<void> {
  if (identities.length === 0) return;
  await tx.raw(
    `DELETE FROM git_manifests m USING unnest(?::text[], ?::text[]) AS gone(kind, name_key)
     WHERE m.binding_id = ? AND m.kind = gone.kind AND m.name_key = gone.name_key`,
    [identities.map((identity) => identity.kind), identities.map((identity) => identity.nameKey), bindingId],
  );
}

export type ImportErrorWrite = Omit<ImportError, 'id' | 'createdAt'>;

/** Stores the errors of now: fixed ones go, and those that stay keep the time of their first report. */
export async function replaceImportErrors(
  tx: Knex,
  bindingId: string,
  errors: readonly ImportErrorWrite[],
): Promise<void> {
  const old: { path: string; message: string; line: number | null; created_at: Date }[] = await tx(
    'git_import_errors',
  )
    .where({ binding_id: bindingId })
    .select('path', 'message', 'line', 'created_at');
  const since = new Map(
    old.map((error) => [`${error.path}:${error.line}:${error.message}`, error.created_at]),
  );
  await tx('git_import_errors').where({ binding_id: bindingId }).delete();
  for (let start = 0; start < errors.length; start += CHUNK) {
    await tx('git_import_errors').insert(
      errors.slice(start, start + CHUNK).map((error) => ({
        id: newId(),
        binding_id: bindingId,
        path: error.path,
        line: error.line,
        column_number: error.column,
        kind: error.kind,
        name: error.name,
        stage: error.stage,
        message: error.message,
        hint: error.hint,
        commit_sha: error.commit,
        created_at: since.get(`${error.path}:${error.line}:${error.message}`) ?? tx.fn.now(),
      })),
    );
  }
}

export async function listImportErrors(db: Knex, bindingId: string, limit: number): Promise<ImportError[]> {
  return db('git_import_errors')
    .where({ binding_id: bindingId })
    .orderBy('path')
    .orderBy('line')
    .limit(limit)
    .select('id', 'path', 'line', 'kind', 'name', 'stage', 'message', 'hint', {
      column: 'column_number',
      commit: 'commit_sha',
      createdAt: 'created_at',
    });
}

/** Path and message of the errors, at most `MAX_FAULTS`. */
export const listFaults = (db: Knex, bindingId: string): Promise<Pick<ImportError, 'path' | 'message'>[]> =>
  db('git_import_errors').where({ binding_id: bindingId }).limit(MAX_FAULTS).select('path', 'message');
const MAX_FAULTS = 5_000;

export async function countImportErrors(db: Knex, bindingId: string): Promise<number> {
  const row = await db('git_import_errors').where({ binding_id: bindingId }).count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}
