import { systemClock } from '../../reconcilers/engine/clock.ts';
import { findUserByEmail, type User } from '../access/index.ts';
import { userAccountOperations, userOperations } from '../administration/index.ts';
import { writeAudit } from '../audit/index.ts';
import { readConfig } from '../config.ts';
import { connect } from '../database/connect.ts';
import { createBus } from '../platform/bus.ts';
import type { Context, Services } from '../platform/context.ts';
import { DomainError } from '../platform/errors.ts';
import { createLogger } from '../platform/logger.ts';
import { createExecute } from '../platform/operation.ts';
import { CannotRun, type Command, EXIT, UsageError } from './command.ts';
import { withDatabaseUrl } from './database.ts';

export const recover: Command = {
  usage: ['headgate recover <email>'],
  help: `For whoever runs the server, when nobody is left who can sign in and help: lifts the lock of that account, and gives it a
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
    const done = await withDatabaseUrl(readConfig(io.env), { existing: true }, async (url) => {
      const db = connect(url, { poolSize: 2, name: 'headgate-recover' });
      try {
        const user = await findUserByEmail(db, email);
        if (!user) throw new CannotRun(`there is no account with the address ${email}`);
        return await recovered(db, url, user, more);
      } catch (error) {
        if (error instanceof DomainError) throw new CannotRun(error.message);
        throw error;
      } finally {
        await db.destroy();
      }
    });
    io.out(`${done.map((line) => `${line}\n`).join('')}`);
    return EXIT.fine;
  },
};

/** The same use cases as super admins have, one after the other. */
async function recovered(
  db: Context['db'],
  url: string,
  user: User,
  more: { secondFactor: boolean; superAdmin: boolean },
): Promise<string[]> {
  const log = createLogger('error');
  const execute = createExecute(writeAudit);
  // None of them needs more of the services than to tell controllers of it.
  const services = { bus: createBus({ url, log }) } satisfies Partial<Services> as unknown as Services;
  const ctx: Context = {
    ...{ db, log, services, clock: systemClock, requestId: 'recover', ipAddress: null },
    actor: { type: 'system', name: 'headgate recover' },
    signal: new AbortController().signal,
  };
  const of = { userId: user.id };
  const told: string[] = [];
  if (user.lockedAt !== null) {
    await execute(userAccountOperations.unlockUser, ctx, of);
    told.push('Its lock is lifted.');
  }
  if (more.secondFactor && user.totpEnabled) {
    await execute(userAccountOperations.resetTwoFactor, ctx, of);
    told.push('Its second factor is gone.');
  }
  if (more.superAdmin && !user.isSuperAdmin) {
    await execute(userOperations.toggleSuperAdmin, ctx, { ...of, isSuperAdmin: true });
    told.push('It is a super admin.');
  }
  const { temporaryPassword, expiresAt } = await execute(userAccountOperations.resetPassword, ctx, of);
  return [
    ...told,
    `Sign in as ${user.email} until ${expiresAt.toISOString()} with: ${temporaryPassword}`,
    'It has to be changed then; it is shown nowhere else.',
  ];
}
