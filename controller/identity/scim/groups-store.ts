/** The groups of SCIM. Groups from the claims of sign-ins are separate. */
import type { Knex } from 'knex';
import { type Reference, SCIM_LIMITS } from '../../../schemas/scim/common.ts';
import type { ListScimGroups, ScimGroup } from '../../../schemas/scim/group.ts';
import { brokeUnique } from '../../database/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { parseFilter, parseWhere } from './filter/filter.ts';
import { GROUP_ATTRIBUTES, MEMBER_ATTRIBUTES } from './filter/filter-attributes.ts';
import { toCondition } from './filter/filter-sql.ts';
import { uniquenessConflict } from './scim-errors.ts';

export interface GroupRecord {
  id: string;
  displayName: string;
  externalId: string | null;
}
interface Row {
  id: string;
  display_name: string;
  external_id: string | null;
  created_at: Date;
  updated_at: Date;
}

const record = (row: Row): GroupRecord => ({
  id: row.id,
  displayName: row.display_name,
  externalId: row.external_id,
});

async function rejectTakenName<T>(displayName: string | undefined, work: PromiseLike<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (brokeUnique(error, 'directory_groups_scim_name_unique'))
      throw uniquenessConflict(`A group with the displayName ${displayName} exists already`);
    throw error;
  }
}

/** @throws CONFLICT where the name is taken, in whatever case. */
export async function insertGroup(tx: Knex, group: Omit<GroupRecord, 'id'>): Promise<string> {
  const id = newId();
  const row = { id, source: 'scim' as const, display_name: group.displayName, external_id: group.externalId };
  await rejectTakenName(group.displayName, tx('directory_groups').insert(row));
  return id;
}

/** Locks the group until the transaction ends; null where it does not exist. */
export async function lockGroup(tx: Knex, id: string): Promise<GroupRecord | null> {
  const row: Row | undefined = await tx('directory_groups').where({ id, source: 'scim' }).forUpdate().first();
  return row ? record(row) : null;
}

/** @throws CONFLICT where the name is taken, in whatever case. */
export async function updateGroup(
  tx: Knex,
  id: string,
  change: Partial<Pick<GroupRecord, 'displayName' | 'externalId'>>,
): Promise<void> {
  const row = {
    ...(change.displayName === undefined ? {} : { display_name: change.displayName }),
    ...(change.externalId === undefined ? {} : { external_id: change.externalId }),
    updated_at: tx.fn.now(),
  };
  await rejectTakenName(change.displayName, tx('directory_groups').where({ id }).update(row));
}

export async function deleteGroup(tx: Knex, id: string): Promise<void> {
  await tx('directory_groups').where({ id }).delete();
}

/** Ids of the members, except the given ones. */
export async function listMemberIds(
  db: Knex,
  groupId: string,
  except: readonly string[] = [],
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { user_id: string }[] }>(
    'SELECT user_id FROM directory_group_members WHERE group_id = ? AND NOT (user_id = ANY(?::text[]))',
    [groupId, [...except]],
  );
  return rows.map((row) => row.user_id);
}

/** The given ids that are not users of SCIM. */
export async function listUnknown(db: Knex, userIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT id FROM unnest(?::text[]) AS c (id) WHERE NOT EXISTS
       (SELECT 1 FROM scim_users s WHERE s.user_id = c.id AND s.deleted_at IS NULL)`,
    [[...userIds]],
  );
  return rows.map(({ id }) => id);
}

/** Ids of users of SCIM by the external id or user name that names them; the oldest user of several. */
export async function resolveNames(db: Knex, values: readonly string[]): Promise<Map<string, string>> {
  if (values.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: { value: string; id: string }[] }>(
    `SELECT c.value, s.user_id AS id FROM unnest(?::text[]) AS c (value) CROSS JOIN LATERAL
       (SELECT user_id FROM scim_users
        WHERE deleted_at IS NULL AND (external_id = c.value OR lower(user_name) = lower(c.value))
        ORDER BY created_at, user_id LIMIT 1) s`,
    [[...values]],
  );
  return new Map(rows.map(({ value, id }) => [value, id]));
}

/** Returns the users who were not members before. */
export async function addMembers(tx: Knex, groupId: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return [];
  const { rows } = await tx.raw<{ rows: { user_id: string }[] }>(
    `INSERT INTO directory_group_members (group_id, user_id) SELECT ?, id FROM unnest(?::text[]) AS c (id)
     ON CONFLICT DO NOTHING RETURNING user_id`,
    [groupId, [...userIds]],
  );
  return rows.map((row) => row.user_id);
}

/** Returns the users who were members. */
export async function removeMembers(
  tx: Knex,
  groupId: string,
  userIds: readonly string[],
): Promise<string[]> {
  if (userIds.length === 0) return [];
  const { rows } = await tx.raw<{ rows: { user_id: string }[] }>(
    'DELETE FROM directory_group_members WHERE group_id = ? AND user_id = ANY(?::text[]) RETURNING user_id',
    [groupId, [...userIds]],
  );
  return rows.map((row) => row.user_id);
}

/** User names for the audit log. */
export async function listUserNames(db: Knex, userIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { user_name: string }[] }>(
    'SELECT user_name FROM scim_users WHERE user_id = ANY(?::text[]) ORDER BY lower(user_name)',
    [[...userIds]],
  );
  return rows.map((row) => row.user_name);
}

/** Ids of the members that match a filter. @throws BAD_REQUEST (invalidPath) */
export async function listMatchingMembers(db: Knex, groupId: string, where: string): Promise<string[]> {
  const { sql, bindings } = toCondition(parseWhere(where), MEMBER_ATTRIBUTES);
  const { rows } = await db.raw<{ rows: { user_id: string }[] }>(
    `SELECT m.user_id FROM directory_group_members m JOIN scim_users u ON u.user_id = m.user_id
     WHERE m.group_id = ? AND ${sql}`,
    [groupId, ...bindings],
  );
  return rows.map((row) => row.user_id);
}

/** @throws BAD_REQUEST (invalidFilter) for an invalid filter. */
export async function listGroups(
  db: Knex,
  { startIndex, count, filter, members }: ListScimGroups,
): Promise<{ total: number; groups: ScimGroup[] }> {
  const { sql, bindings } =
    filter === null ? { sql: 'TRUE', bindings: [] } : toCondition(parseFilter(filter), GROUP_ATTRIBUTES);
  const where = `g.source = 'scim' AND ${sql}`;
  const { rows: totals } = await db.raw<{ rows: [{ total: number }] }>(
    `SELECT count(*) AS total FROM directory_groups g WHERE ${where}`,
    bindings,
  );
  const total = Number(totals[0].total);
  if (count === 0 || startIndex > total) return { total, groups: [] };
  const { rows } = await db.raw<{ rows: (Row & { size: number })[] }>(
    `SELECT g.*, (SELECT count(*) FROM directory_group_members m WHERE m.group_id = g.id) AS size
     FROM directory_groups g WHERE ${where} ORDER BY g.id LIMIT ? OFFSET ?`,
    [...bindings, count, startIndex - 1],
  );
  const page = members ? limitByMembers(rows) : rows;
  return { total, groups: await withMembers(db, page, members) };
}

/** The first groups whose members together fit into a page; at least one group. */
function limitByMembers<T extends { size: number }>(rows: readonly T[]): T[] {
  let sum = 0;
  return rows.filter((row, index) => {
    sum += Number(row.size);
    return index === 0 || sum <= SCIM_LIMITS.membersOfPage;
  });
}

/** Null for a group that does not exist. */
export async function readGroup(db: Knex, id: string, members: boolean): Promise<ScimGroup | null> {
  const rows: Row[] = await db('directory_groups').where({ id, source: 'scim' });
  return (await withMembers(db, rows, members))[0] ?? null;
}

async function withMembers(db: Knex, rows: readonly Row[], includeMembers: boolean): Promise<ScimGroup[]> {
  const members = new Map<string, Reference[]>();
  if (includeMembers && rows.length > 0) {
    const { rows: found } = await db.raw<{ rows: (Reference & { groupId: string })[] }>(
      `SELECT m.group_id AS "groupId", m.user_id AS value, COALESCE(s.attributes->>'displayName', s.user_name) AS display
       FROM directory_group_members m JOIN scim_users s ON s.user_id = m.user_id
       WHERE m.group_id = ANY(?::text[]) ORDER BY m.user_id`,
      [rows.map(({ id }) => id)],
    );
    for (const { groupId, value, display } of found)
      members
        .set(groupId, members.get(groupId) ?? [])
        .get(groupId)
        ?.push({ value, display });
  }
  return rows.map((row) => ({
    ...record(row),
    members: members.get(row.id) ?? [],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}
