/** The accounts that SCIM created or adopted. SCIM sees no others, and none that it deleted. */
import type { Knex } from 'knex';
import type { Reference } from '../../../schemas/scim/common.ts';
import type { ListScimUsers, ScimUser, UserAttributes } from '../../../schemas/scim/user.ts';
import { brokeUnique } from '../../database/errors.ts';
import { parseFilter } from './filter/filter.ts';
import { USER_ATTRIBUTES } from './filter/filter-attributes.ts';
import { toCondition } from './filter/filter-sql.ts';
import { uniquenessConflict } from './scim-errors.ts';

/** The stored record, deleted or not. */
export interface UserRecord {
  attributes: UserAttributes;
  active: boolean;
  deletedAt: Date | null;
}

interface Row {
  user_id: string;
  user_name: string;
  external_id: string | null;
  active: boolean;
  attributes: Partial<Pick<UserAttributes, 'displayName' | 'name' | 'emails'>>;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}

const attributesOfRow = (row: Row): UserAttributes => ({
  userName: row.user_name,
  externalId: row.external_id,
  displayName: row.attributes.displayName ?? null,
  name: { formatted: null, givenName: null, familyName: null, ...row.attributes.name },
  emails: row.attributes.emails ?? [],
});

export async function findUserRecord(db: Knex, userId: string): Promise<UserRecord | null> {
  const row: Row | undefined = await db('scim_users').where({ user_id: userId }).first();
  return row ? { attributes: attributesOfRow(row), active: row.active, deletedAt: row.deleted_at } : null;
}

/** The user with this name, case-insensitive, deleted or not. */
export async function findIdByUserName(db: Knex, userName: string): Promise<string | null> {
  const row: { user_id: string } | undefined = await db('scim_users')
    .whereRaw('lower(user_name) = lower(?)', [userName])
    .first('user_id');
  return row?.user_id ?? null;
}

/**
 * Writes the record of a user and restores it where SCIM had deleted it.
 * @throws CONFLICT where another user has the user name.
 */
export async function writeUserRecord(
  tx: Knex,
  userId: string,
  { attributes, active }: { attributes: UserAttributes; active: boolean },
): Promise<void> {
  const { userName, externalId, ...stored } = attributes;
  try {
    await tx('scim_users')
      .insert({
        user_id: userId,
        user_name: userName,
        external_id: externalId,
        active,
        attributes: JSON.stringify(stored),
        updated_at: tx.fn.now(),
        deleted_at: null,
      })
      .onConflict('user_id')
      .merge();
  } catch (error) {
    if (brokeUnique(error, 'scim_users_name_unique'))
      throw uniquenessConflict(`A user with the userName ${userName} exists already`);
    throw error;
  }
}

export async function markUserDeleted(tx: Knex, userId: string, at: Date): Promise<void> {
  await tx('scim_users')
    .where({ user_id: userId })
    .update({ active: false, deleted_at: at, updated_at: tx.fn.now() });
}

/** Removes the user from all groups of SCIM. */
export async function leaveAllGroups(tx: Knex, userId: string): Promise<void> {
  await tx.raw(
    `DELETE FROM directory_group_members m USING directory_groups g
     WHERE g.id = m.group_id AND g.source = 'scim' AND m.user_id = ?`,
    [userId],
  );
}

/** @throws BAD_REQUEST (invalidFilter) for an invalid filter. */
export async function listUsers(
  db: Knex,
  { startIndex, count, filter }: ListScimUsers,
): Promise<{ total: number; users: ScimUser[] }> {
  const { sql, bindings } =
    filter === null ? { sql: 'TRUE', bindings: [] } : toCondition(parseFilter(filter), USER_ATTRIBUTES);
  const where = `s.deleted_at IS NULL AND ${sql}`;
  const { rows: totals } = await db.raw<{ rows: [{ total: number }] }>(
    `SELECT count(*) AS total FROM scim_users s WHERE ${where}`,
    bindings,
  );
  const total = Number(totals[0].total);
  if (count === 0 || startIndex > total) return { total, users: [] };
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT s.* FROM scim_users s WHERE ${where} ORDER BY s.user_id LIMIT ? OFFSET ?`,
    [...bindings, count, startIndex - 1],
  );
  return { total, users: await withGroups(db, rows) };
}

/** Null for a user that SCIM does not see. */
export async function readUser(db: Knex, userId: string): Promise<ScimUser | null> {
  const rows: Row[] = await db('scim_users').where({ user_id: userId, deleted_at: null });
  return (await withGroups(db, rows))[0] ?? null;
}

async function withGroups(db: Knex, rows: readonly Row[]): Promise<ScimUser[]> {
  if (rows.length === 0) return [];
  const { rows: memberships } = await db.raw<{ rows: (Reference & { userId: string })[] }>(
    `SELECT m.user_id AS "userId", g.id AS value, g.display_name AS display
     FROM directory_group_members m JOIN directory_groups g ON g.id = m.group_id
     WHERE g.source = 'scim' AND m.user_id = ANY(?::text[]) ORDER BY lower(g.display_name)`,
    [rows.map((row) => row.user_id)],
  );
  const groups = Map.groupBy(memberships, ({ userId }) => userId);
  return rows.map((row) => ({
    id: row.user_id,
    ...attributesOfRow(row),
    active: row.active,
    groups: (groups.get(row.user_id) ?? []).map(({ value, display }) => ({ value, display })),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}
