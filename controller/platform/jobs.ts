/** Durable jobs, by graphile-worker: work that must survive a restart, queued in the transaction that asks for it. */
import { makeWorkerUtils, type Runner, run, Logger as WorkerLogger } from 'graphile-worker';
import type { Knex } from 'knex';
import pg from 'pg';
import type { Logger } from './logger.ts';

export type JobHandler = (payload: Record<string, unknown>) => Promise<void>;
export interface Jobs {
  /** Queues in `db`'s transaction. `key` makes a later job of the same key replace an earlier one. */
  add(
    db: Knex,
    task: string,
    payload: Record<string, unknown>,
    options?: { runAt?: Date; key?: string },
  ): Promise<void>;
  start(handlers: Record<string, JobHandler>): Promise<void>;
  stop(): Promise<void>;
}

export const JOBS_SCHEMA = 'graphile_worker';

export async function migrateJobs(url: string): Promise<void> {
  const quiet = new WorkerLogger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: url, schema: JOBS_SCHEMA, logger: quiet });
  await utils.migrate();
  await utils.release();
}

export function createJobs(options: { url: string; log: Logger }): Jobs {
  let runner: Runner | null = null;
  let pool: pg.Pool | null = null;
  return {
    async add(db, task, payload, extra = {}) {
      await db.raw(
        `SELECT ${JOBS_SCHEMA}.add_job(?, payload := ?::json, run_at := ?, job_key := ?, max_attempts := 12)`,
        [task, JSON.stringify(payload), extra.runAt ?? null, extra.key ?? null],
      );
    },
    async start(handlers) {
      pool = new pg.Pool({ connectionString: options.url, max: 3, application_name: 'headgate-jobs' });
      pool.on('error', () => {});
      pool.on('connect', (client) => void client.on('error', () => {}));
      runner = await run({
        pgPool: pool,
        schema: JOBS_SCHEMA,
        concurrency: 2,
        noHandleSignals: true,
        logger: forward(options.log),
        taskList: Object.fromEntries(
          Object.entries(handlers).map(([name, handler]) => [
            name,
            async (payload: unknown) => handler((payload ?? {}) as Record<string, unknown>),
          ]),
        ),
      });
    },
    async stop() {
      await runner?.stop().catch(() => {});
      await pool?.end().catch(() => {});
    },
  };
}

/** graphile-worker's own lines: warnings and errors as ours, the rest left out. */
function forward(log: Logger): WorkerLogger {
  return new WorkerLogger(() => (level, message) => {
    if (level === 'error') log.error({ jobs: true }, message);
    if (level === 'warning') log.warn({ jobs: true }, message);
  });
}
