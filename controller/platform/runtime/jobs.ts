/** Durable jobs, by graphile-worker: work that must survive a restart, queued in the transaction that asks for it. */
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  makeWorkerUtils,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
  Logger as WorkerLogger,
} from 'graphile-worker';
import type { Knex } from 'knex';
import pg from 'pg';
import { backoff } from '../../../reconcilers/loops/backoff.ts';
import { messageOf } from '../operation/errors.ts';
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

/** A lock that is not had within `lockTimeoutMs` fails it with SQLSTATE 55P03. */
export async function migrateJobs(url: string, lockTimeoutMs = 0): Promise<void> {
  const quiet = new WorkerLogger(() => () => {});
  const pool = openPool(url, 1, lockTimeoutMs);
  try {
    const utils = await makeWorkerUtils({ pgPool: pool, schema: JOBS_SCHEMA, logger: quiet });
    await utils.migrate();
    await utils.release();
  } finally {
    await pool.end();
  }
}

/** A connection of a pool that breaks while nobody listens would end the process. The queue's own pools stop to listen too soon. */
function openPool(url: string, max: number, lockTimeoutMs = 0): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: 'headgate-jobs',
    // Waited for before the connection is handed out. No limit of the role holds for the statements of the queue.
    onConnect: (client: pg.ClientBase) =>
      client.query(`SET statement_timeout = 0; SET lock_timeout = ${lockTimeoutMs}`),
  });
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

const delayAfter = backoff({ firstMs: 1_000, capMs: 30_000 });

/**
 * The queue never forgets the options that a runner was started with: this list holds nothing but the map, which `stop`
 * empties.
 */
function taskListOf(tasks: Map<string, JobHandler>): TaskList {
  const run = (name: string) => async (payload: unknown) =>
    tasks.get(name)?.((payload ?? {}) as Record<string, unknown>);
  return Object.fromEntries([...tasks.keys()].map((name) => [name, run(name)]));
}

export function createJobs(options: { url: string; log: Logger }): Jobs {
  const { log } = options;
  const stopping = new AbortController();
  let current: { runner: Runner; id: string; events: WorkerEvents } | null = null;
  let pool: pg.Pool | null = null;
  let kept: Promise<void> = Promise.resolve();
  const tasks = new Map<string, JobHandler>();
  /** Ids of runners that gave up, under which jobs may still be locked; the queue itself waits four hours with those. */
  const abandoned: string[] = [];

  async function startRunner(pgPool: pg.Pool) {
    if (abandoned.length > 0) {
      await pgPool.query(`SELECT ${JOBS_SCHEMA}.force_unlock_workers($1)`, [abandoned]);
      abandoned.length = 0;
    }
    const events: WorkerEvents = new EventEmitter();
    let id = '';
    events.on('pool:create', ({ workerPool }) => {
      id = workerPool.id;
    });
    // What a runner asks first it asks once, and keeps a failure as the answer: it would never look again.
    const firstLook = Promise.withResolvers<boolean>();
    events.on('worker:getJob:empty', () => firstLook.resolve(true));
    events.on('job:start', () => firstLook.resolve(true));
    events.on('worker:getJob:error', () => firstLook.resolve(false));
    const runner = await run({
      pgPool,
      schema: JOBS_SCHEMA,
      concurrency: 2,
      noHandleSignals: true,
      logger: forward(log),
      events,
      // Unbatched, the end of a job is written by a promise that nobody awaits: one lost connection would end the process.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      taskList: taskListOf(tasks),
    });
    runner.promise.catch(() => {});
    void firstLook.promise.then(async (found) => {
      if (!found) await runner.stop().catch(() => {});
    });
    return { runner, id, events };
  }

  /** A runner that could not write the end of a job stops for good, and another one takes its place. */
  async function keepRunning(pgPool: pg.Pool): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      if (current) {
        const reason = await current.runner.promise.then(() => 'it ended', messageOf);
        current.events.removeAllListeners();
        abandoned.push(current.id);
        current = null;
        if (stopping.signal.aborted) return;
        log.warn({ reason }, 'the job runner gave up, another one is started');
      }
      try {
        current = await startRunner(pgPool);
        failures = 0;
      } catch (error) {
        failures += 1;
        log.warn({ reason: messageOf(error) }, 'the job runner does not start yet, it is tried again');
      }
      await pause(delayAfter(failures), stopping.signal);
    }
  }

  return {
    async add(db, task, payload, extra = {}) {
      await db.raw(
        `SELECT ${JOBS_SCHEMA}.add_job(?, payload := ?::json, run_at := ?, job_key := ?, max_attempts := 12)`,
        [task, JSON.stringify(payload), extra.runAt ?? null, extra.key ?? null],
      );
    },
    async start(handlers) {
      for (const [name, handler] of Object.entries(handlers)) tasks.set(name, handler);
      pool = openPool(options.url, 3);
      current = await startRunner(pool);
      kept = keepRunning(pool);
    },
    async stop() {
      stopping.abort();
      await current?.runner.stop().catch(() => {});
      await kept;
      // One that was just being started.
      await current?.runner.stop().catch(() => {});
      await pool?.end().catch(() => {});
      current?.events.removeAllListeners();
      tasks.clear();
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/**
 * More than any job takes: it fetches a mirror (4 minutes), writes to it, and asks a forge (30 s a request). A job that is
 * still under way is done twice, which its handler allows.
 */
const ABANDONED_MINUTES = 15;

/** Lets jobs of controllers that were killed be done by others; the queue itself waits four hours. Answers the names of their runners. */
export async function unlockAbandonedJobs(db: Knex): Promise<string[]> {
  const ids: string[] = await db(`${JOBS_SCHEMA}.jobs`)
    .whereRaw('locked_at < now() - make_interval(mins => ?)', [ABANDONED_MINUTES])
    .distinct()
    .pluck('locked_by');
  if (ids.length > 0) await db.raw(`SELECT ${JOBS_SCHEMA}.force_unlock_workers(?)`, [ids]);
  return ids;
}

/** Deletes jobs that failed for the last time before `before`. At most `limit`; answers how many. */
export async function deleteFailedJobs(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM ${JOBS_SCHEMA}._private_jobs WHERE id IN (SELECT id FROM ${JOBS_SCHEMA}._private_jobs
       WHERE attempts >= max_attempts AND locked_at IS NULL AND updated_at < ? ORDER BY id LIMIT ?)`,
    [before, limit],
  );
  return rowCount;
}

/** Those that are still to be tried, and those that are tried no more. */
export async function countJobs(db: Knex): Promise<{ waiting: number; failed: number }> {
  const { rows } = await db.raw<{ rows: { waiting: number; failed: number }[] }>(
    `SELECT count(*) FILTER (WHERE attempts < max_attempts) AS waiting,
       count(*) FILTER (WHERE attempts >= max_attempts) AS failed FROM ${JOBS_SCHEMA}._private_jobs`,
  );
  return rows[0] ?? { waiting: 0, failed: 0 };
}

/** graphile-worker's own lines: warnings and errors as ours, the rest left out. */
function forward(log: Logger): WorkerLogger {
  return new WorkerLogger(() => (level, message) => {
    if (level === 'error') log.error({ jobs: true }, message);
    if (level === 'warning') log.warn({ jobs: true }, message);
  });
}
