/** For commands that run the use cases of the controller beside it, as the system. */
import { systemClock } from '../../reconcilers/loops/clock.ts';
import type { Config } from '../config.ts';
import { connect } from '../database/connect.ts';
import { createPasswords } from '../identity/access/index.ts';
import { writeAudit } from '../insight/audit/index.ts';
import type { Context, Services } from '../platform/operation/context.ts';
import { DomainError } from '../platform/operation/errors.ts';
import { createExecute } from '../platform/operation/execute.ts';
import type { Execute } from '../platform/operation/operation.ts';
import { createBus } from '../platform/runtime/bus.ts';
import { createLogger } from '../platform/runtime/logger.ts';
import { CannotRun } from './command.ts';
import { withDatabaseUrl } from './database-url.ts';

/** `name` stands in the log: `headgate recover`. What a use case refuses is thrown as `CannotRun`. */
export const asSystem = <T>(
  config: Config,
  name: string,
  work: (ctx: Context, execute: Execute, databaseUrl: string) => Promise<T>,
): Promise<T> =>
  withDatabaseUrl(config, { existing: true }, async (url) => {
    const db = connect(url, { poolSize: 2, name: name.replaceAll(' ', '-') });
    const log = createLogger('error');
    // The use cases that run here publish to controllers, and set passwords; they use no other service.
    const services = {
      bus: createBus({ url, log }),
      passwords: createPasswords(),
    } satisfies Partial<Services> as unknown as Services;
    const ctx: Context = {
      ...{ db, log, services, clock: systemClock, requestId: name, ipAddress: null },
      actor: { type: 'system', name },
      signal: new AbortController().signal,
    };
    try {
      return await work(ctx, createExecute(writeAudit), url);
    } catch (error) {
      if (error instanceof DomainError) throw new CannotRun(error.message);
      throw error;
    } finally {
      await db.destroy();
    }
  });
