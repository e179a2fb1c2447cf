/** Members that a group names and that are not here yet. They join once SCIM creates them. */
import type { Knex } from 'knex';
import { SCIM_LIMITS } from '../../../schemas/scim/common.ts';

/** Answers whether there is room for all. */
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

/** Those of `values`, or, where `only`, all but those. Answers how many were taken away. */
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

/** Ids of the groups that wait for this user, who waits no more. Names are compared whatever their case. */
export async function takeWaiting(
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
