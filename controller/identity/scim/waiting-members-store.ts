/** Members that a group names but SCIM does not know yet. They join when SCIM creates them. */
import type { Knex } from 'knex';
import { SCIM_LIMITS } from '../../../schemas/scim/common.ts';

// The key of a Postgres advisory lock.
const WAITING_LOCK = 7_236_051;

/**
 * Blocks the creation of users until the transaction ends: a user who is created while a group begins to wait for them would
 * not see that, and the group would not see the user. Lock order: after the rules, before groups and users.
 */
export async function lockWaiting(tx: Knex): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock(?)', [WAITING_LOCK]);
}

/** Taken by the creation of a user, in the same order. */
export async function lockWaitingShared(tx: Knex): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock_shared(?)', [WAITING_LOCK]);
}

/** Returns false where the group exceeds the limit. */
export async function addWaiting(tx: Knex, groupId: string, values: readonly string[]): Promise<boolean> {
  if (values.length === 0) return true;
  await tx.raw(
    `INSERT INTO scim_waiting_members (group_id, value) SELECT ?, value FROM unnest(?::text[]) AS c (value)
     ON CONFLICT DO NOTHING`,
    [groupId, [...values]],
  );
  const row = await tx('scim_waiting_members').where({ group_id: groupId }).count({ count: '*' }).first();
  return Number(row?.count ?? 0) <= SCIM_LIMITS.members;
}

/** Removes the given values; with `only`, all other values. Returns how many were removed. */
export async function removeWaiting(
  tx: Knex,
  groupId: string,
  { only, values }: { only: boolean; values: readonly string[] },
): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM scim_waiting_members WHERE group_id = ? AND (value = ANY(?::text[])) ${only ? 'IS FALSE' : 'IS TRUE'}`,
    [groupId, [...values]],
  );
  return rowCount;
}

/** Removes a user from the waiting members and returns the groups that waited. Names are case-insensitive. */
export async function removeFromWaiting(
  tx: Knex,
  user: { id: string; externalId: string | null; userName: string },
): Promise<string[]> {
  const { rows } = await tx.raw<{ rows: { group_id: string }[] }>(
    `DELETE FROM scim_waiting_members
     WHERE value = ANY(?::text[]) OR lower(value) = lower(?) RETURNING group_id`,
    [[user.id, ...(user.externalId === null ? [] : [user.externalId])], user.userName],
  );
  return [...new Set(rows.map(({ group_id }) => group_id))];
}
