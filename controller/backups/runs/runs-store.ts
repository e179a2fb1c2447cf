/** Runs that make, verify or restore a backup. The table lets one run at a time. */
import type { Knex } from 'knex';
import type { BackupRun, BackupRunKind, BackupTrigger } from '../../../schemas/api/backups.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';

const COLUMNS = {
  id: 'id',
  kind: 'kind',
  status: 'status',
  trigger: 'triggered_by',
  filename: 'filename',
  requestedBy: 'requested_by',
  phase: 'phase',
  tablesDone: 'tables_done',
  tablesTotal: 'tables_total',
  rows: 'rows',
  bytes: 'bytes',
  size: 'size',
  error: 'error',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
} as const;

export interface NewRun {
  id: string;
  kind: BackupRunKind;
  trigger: BackupTrigger;
  filename: string;
  requestedBy: string;
  startedAt: Date;
}

/** @throws CONFLICT while another one runs */
export async function insertRun(tx: Knex, run: NewRun): Promise<void> {
  await tx('backup_runs')
    .insert({
      ...{ id: run.id, kind: run.kind, triggered_by: run.trigger, filename: run.filename },
      ...{ requested_by: run.requestedBy, started_at: run.startedAt },
    })
    .catch((error: unknown) => {
      throw brokeUnique(error, 'backup_runs_one_running')
        ? conflict('A backup is being made, verified or restored already; wait for its end')
        : error;
    });
}

export async function findRun(db: Knex, id: string): Promise<BackupRun | null> {
  return (await db('backup_runs').where({ id }).first(COLUMNS)) ?? null;
}

export const listRuns = (db: Knex, limit: number): Promise<BackupRun[]> =>
  db('backup_runs').orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit).select(COLUMNS);

/** Of backups that were made, by the name of their file. */
export async function listCreated(db: Knex): Promise<Map<string, BackupRun>> {
  const runs: BackupRun[] = await db('backup_runs')
    .where({ kind: 'create', status: 'COMPLETED' })
    .select(COLUMNS);
  return new Map(runs.map((run) => [run.filename, run]));
}

export async function findLastScheduled(db: Knex): Promise<BackupRun | null> {
  const run = await db('backup_runs')
    .where({ kind: 'create', triggered_by: 'scheduled' })
    .orderBy('started_at', 'desc')
    .first(COLUMNS);
  return run ?? null;
}

export type RunProgress = Pick<BackupRun, 'phase' | 'tablesDone' | 'tablesTotal' | 'rows' | 'bytes'>;

export async function updateProgress(db: Knex, id: string, progress: RunProgress): Promise<void> {
  const { phase, tablesDone: tables_done, tablesTotal: tables_total, rows, bytes } = progress;
  await db('backup_runs')
    .where({ id, status: 'RUNNING' })
    .update({ phase, tables_done, tables_total, rows, bytes });
}

const MAX_ERROR_CHARS = 2_000;

/** Answers false where it has ended already. */
export async function finishRun(
  db: Knex,
  id: string,
  {
    status,
    size = null,
    error = null,
  }: { status: 'COMPLETED' | 'FAILED'; size?: number | null; error?: string | null },
  at: Date,
): Promise<boolean> {
  const count = await db('backup_runs')
    .where({ id, status: 'RUNNING' })
    .update({ status, size, error: error?.slice(0, MAX_ERROR_CHARS) ?? null, finished_at: at, phase: '' });
  return count > 0;
}

/** What a restore that is COMPLETED has left to do, or null once that is done. */
export async function updateRemainder(db: Knex, id: string, remainder: string | null): Promise<void> {
  await db('backup_runs')
    .where({ id, status: 'COMPLETED' })
    .update({ error: remainder?.slice(0, MAX_ERROR_CHARS) ?? null });
}

export const listRunning = (db: Knex): Promise<BackupRun[]> =>
  db('backup_runs').where({ status: 'RUNNING' }).select(COLUMNS);

/** As many as a schedule may keep: what of their files is deleted next is known by these rows. */
const SCHEDULED_TO_KEEP = 1_000;

/** At most `limit`; answers how many. */
export async function deleteOldRuns(tx: Knex, startedBefore: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM backup_runs WHERE id IN (
       SELECT id FROM backup_runs WHERE started_at < ? AND status <> 'RUNNING' AND id NOT IN (
         SELECT id FROM backup_runs WHERE kind = 'create' AND status = 'COMPLETED' AND triggered_by = 'scheduled'
         ORDER BY started_at DESC LIMIT ${SCHEDULED_TO_KEEP})
       ORDER BY started_at LIMIT ?)`,
    [startedBefore, limit],
  );
  return rowCount;
}

/** The advisory lock that the process holds which does the work: where it is free, nobody does. */
const RUN_LOCK = 7_236_050;

/** Answers null where another process holds the lock. `db` gives a connection to it for all that time. */
export async function withRunLock<T>(db: Knex, work: () => Promise<T>): Promise<{ done: T } | null> {
  return db.transaction(async (tx) => {
    await tx.raw("SELECT set_config('idle_in_transaction_session_timeout', '0', true)");
    const { rows } = await tx.raw<{ rows: { held: boolean }[] }>(
      'SELECT pg_try_advisory_xact_lock(?) AS held',
      [RUN_LOCK],
    );
    return rows[0]?.held ? { done: await work() } : null;
  });
}

/** Of restores that run, or did not come to their end. */
export const listUnfinishedSchemas = (db: Knex): Promise<string[]> =>
  db('pg_namespace')
    .whereRaw('nspowner = current_user::regrole')
    .whereLike('nspname', 'headgate\\_restore\\_%')
    .pluck('nspname');
