import type { Knex } from 'knex';

/**
 * Of those without a password: the others have not lost their way in. Answers how many may be joined from now on; super
 * admins are not, and rest all the same.
 */
export async function allowRelinkOf(tx: Knex, userIds: readonly string[], at: Date): Promise<number> {
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
