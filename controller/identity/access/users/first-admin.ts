/** Creates the first administrator, so that somebody can sign in after the first start. */
import { randomBytes } from 'node:crypto';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { assertStrongPassword } from '../sign-in/password-rules.ts';
import { countUsers, insertUser, lockUsers } from './users-store.ts';

const NAME = 'Administrator';

/**
 * Creates the administrator where no user exists yet. Returns a generated password, for the terminal and nowhere else; null
 * where nothing was created.
 * @throws BAD_REQUEST for a weak password.
 */
export async function ensureFirstAdmin(
  ctx: Context,
  admin: { email: string; password: string | null },
): Promise<{ email: string; generatedPassword: string | null } | null> {
  if ((await countUsers(ctx.db)) > 0) return null;
  if (admin.password !== null) await assertStrongPassword(admin.password, { email: admin.email, name: NAME });
  const generated = admin.password === null ? randomBytes(15).toString('base64url') : null;
  const passwordHash = await ctx.services.passwords.hash(admin.password ?? generated ?? '');
  return ctx.db.transaction(async (tx) => {
    await lockUsers(tx);
    if ((await countUsers(tx)) > 0) return null;
    const id = await insertUser(tx, {
      email: admin.email,
      name: NAME,
      passwordHash,
      isSuperAdmin: true,
    });
    await writeAudit(
      { ...ctx, db: tx },
      ownScope,
      [{ entityType: 'User', entityId: id }],
      'user.firstAdminCreated',
    );
    return { email: admin.email, generatedPassword: generated };
  });
}
