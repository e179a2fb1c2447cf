import type { Knex } from 'knex';

/** Those with a password, and super admins, link themselves. Answers how many may be joined from now on. */
export async function allowRelinkOf(tx: Knex, userIds: readonly string[], at: Date): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `UPDATE users SET relink_allowed_at = ? WHERE id = ANY(?::text[]) AND password_hash IS NULL AND NOT is_super_admin`,
    [at, [...userIds]],
  );
  return rowCount;
}

export async function forbidRelink(tx: Knex, userId: string): Promise<void> {
  await tx('users')
    .where({ id: userId })
    .whereNotNull('relink_allowed_at')
    .update({ relink_allowed_at: null });
}
