/** What tests of backups share: runs that are waited for, and the content of a database to compare. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { EXCLUDED_TABLES } from '../../../../controller/backups/database/excluded-tables.ts';
import type { BackupRun } from '../../../../schemas/api/backups.ts';
import type { TestController } from '../../harness/controller.ts';
import { until } from '../../harness/until.ts';
import type { TestUser } from '../../users/person.ts';

/** Waits for the end of a run; answers how it ended. */
export async function untilEnded(db: TestController['db'], { id }: { id: string }): Promise<BackupRun> {
  const read = async () => db('backup_runs').where({ id }).first();
  await until(async () => ((await read())?.status ?? 'RUNNING') !== 'RUNNING', {
    what: 'the run to end',
    timeoutMs: 60_000,
    everyMs: 50,
  });
  return (await read()) as unknown as BackupRun;
}

/** Makes a backup; answers the name of its file. */
export async function makeBackup(test: TestController, root: TestUser): Promise<string> {
  const run = await root.mutate<BackupRun>('settings.createBackup');
  const ended = await untilEnded(test.db, run);
  expect(ended.status, ended.error ?? '').to.equal('COMPLETED');
  return run.filename;
}

/** How often it has started. */
export const startsOf = (test: TestController): number => test.log().split('"Headgate listens"').length - 1;

/** The one of before answers until its requests have ended. */
export const untilStarted = (test: TestController, starts: number): Promise<void> =>
  until(() => startsOf(test) === starts, {
    what: () => `the controller to start again:\n${test.log().slice(-2_000)}`,
    timeoutMs: 30_000,
    everyMs: 20,
  });

/** Restores it; settles once the controller answers again. Answers the first administrator, signed in again. */
export async function restoreBackup(
  test: TestController,
  root: TestUser,
  filename: string,
): Promise<TestUser> {
  const starts = startsOf(test);
  const run = await root.mutate<BackupRun>('settings.restoreBackup', { filename });
  const ended = await untilEnded(test.db, run);
  expect(ended.status, ended.error ?? '').to.equal('COMPLETED');
  await untilStarted(test, starts + 1);
  return test.root();
}

/** Indexes, constraints and triggers. An index of a table whose partitions lack it is not valid. */
export async function shapeOf(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { line: string }[] }>(
    `WITH t AS (SELECT oid, relname FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition)
     SELECT pg_get_indexdef(indexrelid) || ' ' || indisvalid::text AS line FROM pg_index JOIN t ON t.oid = indrelid
     UNION ALL SELECT relname || ' ' || conname || ' ' || pg_get_constraintdef(k.oid) || ' ' || convalidated::text
       FROM pg_constraint k JOIN t ON t.oid = conrelid
     UNION ALL SELECT relname || ' ' || tgname || ' ' || tgenabled::text
       FROM pg_trigger g JOIN t ON t.oid = tgrelid WHERE NOT tgisinternal
     ORDER BY 1`,
  );
  return rows.map(({ line }) => line);
}

/** Rows and a checksum of each table that a backup holds. */
export async function contentOf(db: Knex): Promise<Record<string, string>> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
       AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
  );
  const content: Record<string, string> = {};
  for (const { name } of rows) {
    if (EXCLUDED_TABLES.has(name)) continue;
    const read = await db.raw<{ rows: { row: string }[] }>('SELECT t::text AS row FROM ?? t ORDER BY 1', [
      name,
    ]);
    const lines = read.rows.map(({ row }) => row).sort();
    content[name] =
      `${lines.length} ${createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12)}`;
  }
  return content;
}
