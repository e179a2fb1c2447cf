import { readConfig } from '../config.ts';
import { findUserByEmail, isPasswordAllowed, listBreakGlass, type User } from '../identity/access/index.ts';
import {
  settingsOperations,
  userAccountOperations,
  userOperations,
} from '../identity/administration/index.ts';
import type { Context } from '../platform/operation/context.ts';
import type { Execute } from '../platform/operation/operation.ts';
import { CannotRun, type Command, EXIT, UsageError } from './command.ts';
import { asSystem } from './system-context.ts';

export const recover: Command = {
  usage: ['headgate recover <email>'],
  help: `For the operator of the server, when nobody is left who can sign in and help: lifts the lock of that account, and gives it a
temporary password, which is printed once, signs in for three days, and has to be changed then. Its sessions end. Takes the
variables of headgate serve, and works while controllers run. What it does is in the audit log, as the system's.`,
  options: {
    'second-factor': {
      help: 'take the second factor away as well, where its phone and backup codes are lost',
    },
    'super-admin': { help: 'make it a super admin as well' },
  },
  positionals: 1,
  async run(given, io) {
    const email = given.positionals[0];
    if (!email) throw new UsageError('say whose account: headgate recover somebody@example.org');
    const more = { secondFactor: given.flag('second-factor'), superAdmin: given.flag('super-admin') };
    const done = await asSystem(readConfig(io.env), 'headgate recover', async (ctx, execute) => {
      const user = await findUserByEmail(ctx.db, email);
      if (!user) throw new CannotRun(`there is no account with the address ${email}`);
      return recovered(ctx, execute, user, more);
    });
    io.out(`${done.map((line) => `${line}\n`).join('')}`);
    return EXIT.fine;
  },
};

/** The same use cases as super admins have, one after the other. */
async function recovered(
  ctx: Context,
  execute: Execute,
  user: User,
  more: { secondFactor: boolean; superAdmin: boolean },
): Promise<string[]> {
  const of = { userId: user.id };
  const lines: string[] = [];
  if (user.lockedAt !== null) {
    await execute(userAccountOperations.unlockUser, ctx, of);
    lines.push('Its lock is lifted.');
  }
  if (more.secondFactor && user.totpEnabled) {
    await execute(userAccountOperations.resetTwoFactor, ctx, of);
    lines.push('Its second factor is gone.');
  }
  if (more.superAdmin && !user.isSuperAdmin) {
    await execute(userOperations.toggleSuperAdmin, ctx, { ...of, isSuperAdmin: true });
    lines.push('It is a super admin.');
  }
  const { temporaryPassword, expiresAt } = await execute(userAccountOperations.resetPassword, ctx, of);
  if (!(await isPasswordAllowed(ctx.db, user.id))) {
    if (user.isSuperAdmin || more.superAdmin) {
      const known = (await listBreakGlass(ctx.db)).map(({ id }) => id);
      await execute(settingsOperations.updateAccess, ctx, { breakGlassUserIds: [...known, user.id] });
      lines.push('It is a break-glass account: a password opens it, though providers are to be used alone.');
    } else
      lines.push(
        'Passwords are switched off here, so that this one opens nothing yet: add --super-admin to make it a break-glass account.',
      );
  }
  return [
    ...lines,
    `Sign in as ${user.email} until ${expiresAt.toISOString()} with: ${temporaryPassword}`,
    'It has to be changed then; it is shown nowhere else.',
  ];
}
