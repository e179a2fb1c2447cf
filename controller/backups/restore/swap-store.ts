/**
 * Puts a filled schema in the place of the one in use, in one transaction. Tables are moved one by one, which their owner
 * may do, where a schema may be renamed by its own owner alone.
 */
import type { Knex } from 'knex';
import type { Bus } from '../../platform/runtime/bus.ts';
import { JOBS_SCHEMA } from '../../platform/runtime/jobs.ts';
import { writeSetting } from '../../platform/runtime/settings-store.ts';

/** The setting by which a start finds out what was restored last. */
export const LAST_RESTORE = 'lastRestore';
export interface LastRestore {
  id: string;
  filename: string;
  at: string;
  /** Where the tables of before are. */
  previousSchema: string;
}

export interface Swap {
  /** Of the run. */
  id: string;
  filename: string;
  at: Date;
  /** The filled schema. */
  schema: string;
  previousSchema: string;
  /** Waiting jobs of the backup, as JSON. */
  jobs: readonly string[];
}

/** As long as a transaction of a controller may take; every other query waits meanwhile. */
const LOCK_TIMEOUT_MS = 3_000;

/** `finish` runs last in the transaction, with the restored tables in their place. */
export async function swapSchemas(
  db: Knex,
  bus: Pick<Bus, 'publish'>,
  swap: Swap,
  finish: (tx: Knex) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.raw("SELECT set_config('lock_timeout', ?, true)", [String(LOCK_TIMEOUT_MS)]);
    const live = await currentSchema(tx);
    const restored = await listObjects(tx, swap.schema);
    const names = new Set(restored.map(({ kind, name }) => `${kind} ${name}`));
    const partitioned = new Set(restored.filter(({ parent }) => parent !== null).map(({ parent }) => parent));
    const known = new Set(restored.map(({ name }) => name));
    const replaced = (await listObjects(tx, live)).filter(
      ({ kind, name, parent }) =>
        names.has(`${kind} ${name}`) || (parent !== null && (partitioned.has(parent) || known.has(parent))),
    );
    await lockTables(tx, live, replaced);
    await carryOver(tx, live, swap);
    await tx.raw('CREATE SCHEMA ??', [swap.previousSchema]);
    await move(tx, live, swap.previousSchema, replaced);
    await move(tx, swap.schema, live, restored);
    await tx.raw('DROP SCHEMA ??', [swap.schema]);
    await tx.raw('SET LOCAL search_path = ??', [live]);
    await replaceJobs(tx, swap.jobs);
    const record: LastRestore = {
      ...{ id: swap.id, filename: swap.filename, at: swap.at.toISOString() },
      previousSchema: swap.previousSchema,
    };
    await writeSetting(tx, LAST_RESTORE, record);
    await finish(tx);
    await bus.publish(tx, { type: 'restored' });
  });
}

async function currentSchema(tx: Knex): Promise<string> {
  const { rows } = await tx.raw<{ rows: { schema: string }[] }>('SELECT current_schema() AS schema');
  return rows[0]?.schema ?? 'public';
}

interface SchemaObject {
  kind: 'TABLE' | 'VIEW' | 'SEQUENCE' | 'FUNCTION';
  name: string;
  /** Of a partition. */
  parent: string | null;
}

/** What can be moved by itself: a sequence of a column goes with its table. */
async function listObjects(tx: Knex, schema: string): Promise<SchemaObject[]> {
  const { rows } = await tx.raw<{ rows: SchemaObject[] }>(
    `SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind,
       c.relname AS name, p.relname AS parent
     FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
     WHERE c.relnamespace = :schema::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
       AND NOT EXISTS (SELECT FROM pg_depend d
         WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND c.relkind = 'S' AND d.deptype IN ('a', 'i'))
     UNION ALL
     SELECT 'FUNCTION', p.proname, NULL FROM pg_proc p
     WHERE p.pronamespace = :schema::regnamespace AND p.pronargs = 0
     ORDER BY 2`,
    { schema: `"${schema}"` },
  );
  return rows;
}

/** In one order, so that two restores do not wait for each other; with their partitions. */
async function lockTables(tx: Knex, schema: string, objects: readonly SchemaObject[]): Promise<void> {
  const tables = objects.filter(({ kind, parent }) => kind === 'TABLE' && parent === null);
  if (tables.length === 0) return;
  await tx.raw(`LOCK TABLE ${tables.map(() => '??.??').join(', ')} IN ACCESS EXCLUSIVE MODE`, [
    ...tables.flatMap(({ name }) => [schema, name]),
  ]);
}

async function move(tx: Knex, from: string, to: string, objects: readonly SchemaObject[]): Promise<void> {
  for (const { kind, name } of objects)
    await tx.raw(`ALTER ${kind} ??.??${kind === 'FUNCTION' ? '()' : ''} SET SCHEMA ??`, [from, name, to]);
}

/** What belongs to this installation and not to the backup, or must never go back. Triggers act on the restored tables. */
async function carryOver(tx: Knex, live: string, { schema }: Swap): Promise<void> {
  await tx.raw("SELECT set_config('headgate.reconciler', 'on', true)");
  await tx.raw('SET LOCAL search_path = ??', [schema]);
  const copy = async (table: string) => {
    const columns: string[] = await tx('information_schema.columns')
      .where({ table_schema: live, table_name: table, is_generated: 'NEVER' })
      .pluck('column_name');
    const names = columns.map(() => '??').join(', ');
    await tx.raw(`INSERT INTO ??.?? (${names}) SELECT ${names} FROM ??.??`, [
      ...[schema, table, ...columns],
      ...[...columns, live, table],
    ]);
  };
  await copy('backup_runs');
  const { rows } = await tx.raw<{ rows: unknown[] }>('SELECT FROM ??.backup_settings', [live]);
  if (rows.length > 0) {
    await tx('backup_settings').delete();
    await copy('backup_settings');
  }
  // A leader of before holds no lease any more, and its writes are refused.
  await tx.raw(
    `INSERT INTO ??.leases (key, holder, epoch, expires_at)
     SELECT key, 'restore', epoch + 1, '-infinity' FROM ??.leases`,
    [schema, live],
  );
  // A node that has seen a higher revision would take what it is served for older than what it runs.
  for (const table of ['environments', 'nodes'])
    await tx.raw(
      `UPDATE ??.?? r SET config_revision = greatest(r.config_revision, l.config_revision) + 1
       FROM ??.?? l WHERE l.id = r.id`,
      [schema, table, live, table],
    );
}

/** Jobs of before are about rows that are gone; those of the backup were asked for and not done. */
async function replaceJobs(tx: Knex, jobs: readonly string[]): Promise<void> {
  await tx.raw(`DELETE FROM ${JOBS_SCHEMA}._private_jobs`);
  for (const job of jobs)
    await tx.raw(
      `SELECT ${JOBS_SCHEMA}.add_job(j->>'task', payload := j->'payload', run_at := (j->>'runAt')::timestamptz,
         job_key := j->>'key', max_attempts := 12) FROM (SELECT ?::json AS j) given`,
      [job],
    );
}

const PREVIOUS = /^before_restore_\d{14}$/;
export const previousSchemaName = (at: Date): string =>
  `before_restore_${at
    .toISOString()
    .replaceAll(/[^0-9]/g, '')
    .slice(0, 14)}`;

/** Of this user, except for `keep`. */
export async function listPreviousSchemas(db: Knex, keep: string): Promise<string[]> {
  const names: string[] = await db('pg_namespace')
    .whereRaw('nspowner = current_user::regrole')
    .whereLike('nspname', 'before\\_restore\\_%')
    .pluck('nspname');
  return names.filter((name) => PREVIOUS.test(name) && name !== keep);
}

/** Sessions of others that hold a lock on one of our tables, such as `process 4711 (psql, for 65 s)`. */
export async function listBlockingSessions(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { pid: number; name: string; seconds: number }[] }>(
    `SELECT pid, application_name AS name, round(extract(epoch FROM now() - xact_start)) AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
       AND application_name <> 'headgate-backup' ORDER BY xact_start LIMIT 2`,
  );
  return rows.map(({ pid, name, seconds }) => `process ${pid} (${name || 'unnamed'}, for ${seconds} s)`);
}
