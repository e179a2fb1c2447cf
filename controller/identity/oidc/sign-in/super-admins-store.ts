import type { Knex } from 'knex';

export interface ChangedSuperAdmin {
  id: string;
  name: string;
  email: string;
}

const IN_GROUP = `SELECT m.user_id FROM directory_group_members m JOIN directory_groups g ON g.id = m.group_id
  WHERE g.source = 'oidc' AND m.issuer = :issuer AND g.display_name = ANY(:names::text[])`;

/** Of everybody, or of some: who has become a super admin by a group at this issuer, and who is none any more. */
export async function writeSuperAdminsOf(
  tx: Knex,
  { issuer, names, userIds }: { issuer: string; names: readonly string[]; userIds: readonly string[] | null },
): Promise<{ made: ChangedSuperAdmin[]; unmade: ChangedSuperAdmin[] }> {
  const bound = { issuer, userIds: userIds && [...userIds], names: [...names] };
  const who = '(:userIds::text[] IS NULL OR id = ANY(:userIds))';
  const made = await tx.raw<{ rows: ChangedSuperAdmin[] }>(
    `UPDATE users SET is_super_admin = true, super_admin_by = :issuer, updated_at = now()
     WHERE NOT is_super_admin AND ${who} AND id IN (${IN_GROUP}) RETURNING id, name, email`,
    bound,
  );
  const unmade = await tx.raw<{ rows: ChangedSuperAdmin[] }>(
    `UPDATE users SET is_super_admin = false, super_admin_by = NULL, updated_at = now()
     WHERE super_admin_by = :issuer AND ${who} AND id NOT IN (${IN_GROUP}) RETURNING id, name, email`,
    bound,
  );
  return { made: made.rows, unmade: unmade.rows };
}

/** Of a link that is taken away: its audit row is that of the unlinking. */
export async function endSuperAdminsBy(
  tx: Knex,
  issuers: readonly string[],
  userIds: readonly string[],
): Promise<void> {
  await tx.raw(
    `UPDATE users SET is_super_admin = false, super_admin_by = NULL, updated_at = now()
     WHERE super_admin_by = ANY(?::text[]) AND id = ANY(?::text[])`,
    [[...issuers], [...userIds]],
  );
}
