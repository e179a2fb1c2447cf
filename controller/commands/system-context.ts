/** For commands that run the use cases of the controller beside it, as the system. */
import { systemClock } from '../../reconcilers/engine/clock.ts';
import { writeAudit } from '../audit/index.ts';
import type { Config } from '../config.ts';
import { connect } from '../database/connect.ts';
import { createBus } from '../platform/bus.ts';
import type { Context, Services } from '../platform/context.ts';
import { DomainError } from '../platform/errors.ts';
import { createLogger } from '../platform/logger.ts';
import { createExecute, type Execute } from '../platform/operation.ts';
import { CannotRun } from './command.ts';
import { withDatabaseUrl } from './database.ts';

/** `name` stands in the log: `headgate recover`. What a use case refuses is thrown as `CannotRun`. */
export const asSystem = <T>(
  config: Config,
  name: string,
  work: (ctx: Context, execute: Execute) => Promise<T>,
): Promise<T> =>
  withDatabaseUrl(config, { existing: true }, async (url) => {
    const db = connect(url, { poolSize: 2, name: name.replaceAll(' ', '-') });
    const log = createLogger('error');
    // Use cases that are run here need no more of the services than to publish to controllers.
    const services = { bus: createBus({ url, log }) } satisfies Partial<Services> as unknown as Services;
    const ctx: Context = {
      ...{ db, log, services, clock: systemClock, requestId: name, ipAddress: null },
      actor: { type: 'system', name },
      signal: new AbortController().signal,
    };
    try {
      return await work(ctx, createExecute(writeAudit));
    } catch (error) {
      if (error instanceof DomainError) throw new CannotRun(error.message);
      throw error;
    } finally {
      await db.destroy();
    }
  });
