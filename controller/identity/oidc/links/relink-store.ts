import type { Knex } from 'knex';

/**
 * Permits a new link for accounts without a password, because they have no other way to sign in. Returns how many accounts may
 * be linked by address; super admins may not.
 */
export async function allowRelink(tx: Knex, userIds: readonly string[], at: Date): Promise<number> {
  const { rows } = await tx.raw<{ rows: { is_super_admin: boolean }[] }>(
    `UPDATE users SET relink_allowed_at = ? WHERE id = ANY(?::text[]) AND password_hash IS NULL RETURNING is_super_admin`,
    [at, [...userIds]],
  );
  return rows.filter((row) => !row.is_super_admin).length;
}

export async function forbidRelink(tx: Knex, userId: string): Promise<void> {
  await tx('users')
    .where({ id: userId })
    .whereNotNull('relink_allowed_at')
    .update({ relink_allowed_at: null });
}
