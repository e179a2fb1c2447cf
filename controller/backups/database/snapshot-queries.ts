/** Reads a database from one snapshot: every table as it was at the same moment, however long the reading takes. */
import type { Knex } from 'knex';
import { readSetting } from '../../platform/runtime/settings-store.ts';
import type { ArchiveManifest, ArchivePartition } from '../archive/manifest.ts';
import { EXCLUDED_TABLES } from './excluded-tables.ts';

/** The snapshot is taken by the first statement of `work`, and lasts until it ends. */
export const inSnapshot = <T>(db: Knex, work: (tx: Knex) => Promise<T>): Promise<T> =>
  db.transaction(
    async (tx) => {
      await tx.raw("SELECT set_config('idle_in_transaction_session_timeout', '0', true)");
      // Names as PostgreSQL writes them, and moments with all their digits, whatever the role has set.
      await tx.raw("SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'");
      await tx.raw(
        "SET LOCAL timezone = 'UTC'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1",
      );
      return work(tx);
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );

export interface TableShape {
  name: string;
  columns: string[];
  /** An estimate, of the last ANALYZE. */
  estimate: number;
}

/** In the order of their names. Partitions are read through their table. */
export async function listTables(tx: Knex): Promise<TableShape[]> {
  const { rows } = await tx.raw<{ rows: TableShape[] }>(
    `SELECT c.relname AS name, greatest(c.reltuples, 0)::bigint AS estimate,
       array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     GROUP BY c.oid ORDER BY c.relname COLLATE "C"`,
  );
  return rows.filter(({ name }) => !EXCLUDED_TABLES.has(name));
}

export async function listPartitions(tx: Knex): Promise<ArchivePartition[]> {
  const { rows } = await tx.raw<{ rows: ArchivePartition[] }>(
    `SELECT p.relname AS table, c.relname AS name, coalesce(c.reloptions, '{}') AS options
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     WHERE p.relnamespace = current_schema()::regnamespace AND p.relkind = 'p'
     ORDER BY c.relname COLLATE "C"`,
  );
  return rows;
}

/** Sequences do not follow the snapshot: read after the rows, they are never behind them. */
export async function listSequences(tx: Knex): Promise<ArchiveManifest['sequences']> {
  const { rows } = await tx.raw<{ rows: { name: string }[] }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' ORDER BY relname COLLATE "C"`,
  );
  const sequences: ArchiveManifest['sequences'] = [];
  for (const { name } of rows) {
    const state = await tx.raw<{ rows: { value: number; isCalled: boolean }[] }>(
      'SELECT last_value AS value, is_called AS "isCalled" FROM ??',
      [name],
    );
    const [first] = state.rows;
    if (first) sequences.push({ name, ...first });
  }
  return sequences;
}

export const listMigrationNames = (tx: Knex): Promise<string[]> =>
  tx('schema_migrations').orderBy('name').pluck('name');

export async function readKeyFingerprints(
  tx: Knex,
): Promise<{ current: string | null; next: string | null }> {
  return {
    current: await readSetting<string>(tx, 'secretKeyFingerprint'),
    next: await readSetting<string>(tx, 'secretKeyNext'),
  };
}

export async function listBindings(tx: Knex): Promise<ArchiveManifest['bindings']> {
  const { rows } = await tx.raw<{ rows: ArchiveManifest['bindings'] }>(
    `SELECT t.name || '/' || e.name AS environment, b.repository_url AS repository,
       b.ref AS branch, b.applied_commit->>'sha' AS commit
     FROM git_bindings b JOIN environments e ON e.id = b.environment_id JOIN teams t ON t.id = e.team_id
     ORDER BY 1`,
  );
  return rows;
}

/** Jobs that are still to be tried: what was asked for and is not done yet. */
export async function readWaitingJobs(tx: Knex): Promise<string[]> {
  const { rows } = await tx.raw<{ rows: { job: string }[] }>(
    `SELECT json_build_object('task', t.identifier, 'payload', j.payload, 'runAt', j.run_at, 'key', j.key)::text AS job
     FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
     WHERE j.attempts < j.max_attempts ORDER BY j.id`,
  );
  return rows.map(({ job }) => job);
}

const FETCH_BYTES = 512 * 1024;
const MOST_ROWS = 5_000;

/**
 * Rows as JSON objects, each value as the text that PostgreSQL reads back to the same value: JSON itself would lose which
 * null of a `jsonb` column is one of SQL, and digits of numbers. Answers batches of about 512 KiB.
 */
export async function* readRows(tx: Knex, { name, columns }: TableShape): AsyncGenerator<string[]> {
  const picked = columns.map(() => '??::text AS ??').join(', ');
  await tx.raw(
    `DECLARE backup_rows NO SCROLL CURSOR FOR SELECT row_to_json(r)::text AS row FROM (SELECT ${picked} FROM ??) r`,
    [...columns.flatMap((column) => [column, column]), name],
  );
  try {
    for (let count = 50; ; ) {
      const { rows } = await tx.raw<{ rows: { row: string }[] }>(`FETCH ${count} FROM backup_rows`);
      if (rows.length === 0) return;
      const lines = rows.map(({ row }) => row);
      const chars = lines.reduce((sum, line) => sum + line.length, 0);
      // Rows of one table may have ten bytes or a million.
      count = Math.max(
        1,
        Math.min(MOST_ROWS, count * 4, Math.floor((FETCH_BYTES * rows.length) / Math.max(1, chars))),
      );
      yield lines;
    }
  } finally {
    await tx.raw('CLOSE backup_rows').catch(() => {});
  }
}
