import type { Knex } from 'knex';

export interface ChangedSuperAdmin {
  id: string;
  name: string;
  email: string;
}

const IN_GROUP = `SELECT m.user_id FROM directory_group_members m JOIN directory_groups g ON g.id = m.group_id
  WHERE g.source = 'oidc' AND m.issuer = :issuer AND g.display_name = ANY(:names::text[])`;

/** Grants and revokes super admin rights by groups of an issuer, for all users or for some. Returns the changed users. */
export async function writeSuperAdmins(
  tx: Knex,
  { issuer, names, userIds }: { issuer: string; names: readonly string[]; userIds: readonly string[] | null },
): Promise<{ granted: ChangedSuperAdmin[]; revoked: ChangedSuperAdmin[] }> {
  const values = { issuer, userIds: userIds && [...userIds], names: [...names] };
  const who = '(:userIds::text[] IS NULL OR id = ANY(:userIds))';
  const granted = await tx.raw<{ rows: ChangedSuperAdmin[] }>(
    `UPDATE users SET is_super_admin = true, super_admin_by = :issuer, updated_at = now()
     WHERE NOT is_super_admin AND ${who} AND id IN (${IN_GROUP}) RETURNING id, name, email`,
    values,
  );
  const revoked = await tx.raw<{ rows: ChangedSuperAdmin[] }>(
    `UPDATE users SET is_super_admin = false, super_admin_by = NULL, updated_at = now()
     WHERE super_admin_by = :issuer AND ${who} AND id NOT IN (${IN_GROUP}) RETURNING id, name, email`,
    values,
  );
  return { granted: granted.rows, revoked: revoked.rows };
}

/** For removed links; the audit row of the unlinking covers it. */
export async function revokeSuperAdmins(
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
