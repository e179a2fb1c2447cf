/** First start: somebody must be able to sign in. */
import { randomBytes } from 'node:crypto';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { assertStrongPassword } from '../sign-in/password-rules.ts';
import { hashPassword } from '../sign-in/passwords.ts';
import { countUsers, insertUser, lockUsers } from './users-store.ts';

const NAME = 'Administrator';

/**
 * Makes the administrator where there is no user yet. Answers the password where it was generated here, for the terminal
 * and nowhere else; null where nothing was made.
 * @throws BAD_REQUEST where the given password is one that is guessed first.
 */
export async function ensureFirstAdmin(
  ctx: Context,
  admin: { email: string; password: string | null },
): Promise<{ email: string; generatedPassword: string | null } | null> {
  if ((await countUsers(ctx.db)) > 0) return null;
  if (admin.password !== null) await assertStrongPassword(admin.password, { email: admin.email, name: NAME });
  const generated = admin.password === null ? randomBytes(15).toString('base64url') : null;
  const passwordHash = await hashPassword(admin.password ?? generated ?? '');
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
