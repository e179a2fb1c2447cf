/** Fills the tables of a schema that nothing uses yet. Constraints between tables are checked once all rows are there. */
import type { Knex } from 'knex';
import type { ArchiveManifest, ArchivePartition, ArchiveTable } from '../archive/manifest.ts';
import { damaged } from '../archive/read-archive.ts';
import { copyLinesOf } from './copy-lines.ts';
import { copyRows } from './copy-store.ts';

export async function createSchema(db: Knex, schema: string): Promise<void> {
  await db.raw('CREATE SCHEMA ??', [schema]);
}

export async function dropSchema(db: Knex, schema: string): Promise<void> {
  await db.raw('DROP SCHEMA IF EXISTS ?? CASCADE', [schema]);
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

export interface Loader {
  /** Rows of one file, a JSON object a line; answers how many. They are written while the next ones are read. */
  load(table: string, content: Buffer): Promise<number>;
  /** Waits for all rows, and checks what was loaded as a whole. */
  finish(): Promise<void>;
}

/** `db` sees only the new schema, which has the tables of the backup's own version. */
export async function beginLoading(db: Knex, manifest: ArchiveManifest): Promise<Loader> {
  const columns = await listColumns(db);
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  for (const table of manifest.tables) assertKnown(table, columns);
  // Migrations write rows as well.
  const filled = [...columns.keys()].filter((name) => name !== 'schema_migrations');
  await db.raw(`TRUNCATE ${filled.map(() => '??').join(', ')}`, filled);
  for (const partition of manifest.partitions) await createPartition(db, partition, columns);
  const keys = await listForeignKeys(db);
  for (const { table, name } of keys) await db.raw('ALTER TABLE ?? DROP CONSTRAINT ??', [table, name]);
  // Built at once they cost a fraction of what they cost row by row.
  const indexes = await listIndexes(db);
  for (const { name } of indexes) await db.raw('DROP INDEX ??', [name]);
  for (const { name } of manifest.tables) await db.raw('ALTER TABLE ?? DISABLE TRIGGER USER', [name]);
  await db.raw('SET synchronous_commit = off');
  let writing: Promise<void> = Promise.resolve();
  return {
    async load(name, content) {
      const table = tables.get(name);
      if (!table) throw damaged(`it has rows of ${name}, which its manifest does not name`);
      const { lines, rows } = copyLinesOf(content, table);
      await writing;
      writing = copyRows(db, table, lines);
      writing.catch(() => {});
      return rows;
    },
    async finish() {
      await writing;
      await assertCounts(db, manifest.tables);
      for (const { name } of manifest.tables) await db.raw('ALTER TABLE ?? ENABLE TRIGGER USER', [name]);
      for (const { definition } of indexes) await db.raw(definition.replaceAll('?', '\\?'));
      for (const { table, name, definition } of keys)
        await db.raw(`ALTER TABLE ?? ADD CONSTRAINT ?? ${definition.replaceAll('?', '\\?')}`, [table, name]);
      for (const { name, value, isCalled } of manifest.sequences)
        await db.raw('SELECT setval(c.oid, ?, ?) FROM pg_class c WHERE c.oid = to_regclass(?)', [
          ...[value, isCalled, `"${name}"`],
        ]);
      for (const { name } of manifest.tables) await db.raw('ANALYZE ??', [name]);
    },
  };
}

/** Of each table its columns. */
type Columns = ReadonlyMap<string, ReadonlySet<string>>;

async function listColumns(db: Knex): Promise<Columns> {
  const { rows } = await db.raw<{ rows: { table: string; columns: string[] }[] }>(
    `SELECT c.relname AS table, array_agg(a.attname::text) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     GROUP BY c.oid`,
  );
  return new Map(rows.map(({ table, columns }) => [table, new Set(columns)]));
}

/** A backup has the tables and columns of its version. @throws PRECONDITION_FAILED for others */
function assertKnown({ name, columns }: ArchiveTable, all: Columns): void {
  const known = all.get(name);
  if (!known) throw damaged(`it has a table ${name}, which its version does not have`);
  for (const column of columns)
    if (!known.has(column))
      throw damaged(`it has a column ${name}.${column}, which its version does not have`);
}

/** Its name says its day, so that nothing of the archive becomes SQL but checked options. */
async function createPartition(
  db: Knex,
  { table, name, options }: ArchivePartition,
  columns: Columns,
): Promise<void> {
  const [, year, month, day] = /^.*_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
  const from = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (!columns.has(table) || Number.isNaN(from.getTime()) || !name.startsWith(`${table}_`))
    throw damaged(`it has a partition ${name}, which belongs to no table`);
  const until = new Date(from.getTime() + 86_400_000);
  const storage = options.length === 0 ? '' : ` WITH (${options.join(', ')})`;
  await db.raw(
    `CREATE TABLE ?? PARTITION OF ?? FOR VALUES FROM ('${from.toISOString()}') TO ('${until.toISOString()}')${storage}`,
    [name, table],
  );
}

async function listForeignKeys(db: Knex): Promise<ForeignKey[]> {
  const { rows } = await db.raw<{ rows: ForeignKey[] }>(
    `SELECT c.relname AS table, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND k.contype = 'f' AND k.conparentid = 0
     ORDER BY c.relname, k.conname`,
  );
  return rows;
}

/** Those of no constraint; one of a table with partitions stands for theirs. */
async function listIndexes(db: Knex): Promise<{ name: string; definition: string }[]> {
  const { rows } = await db.raw<{ rows: { name: string; definition: string }[] }>(
    `SELECT c.relname AS name, pg_get_indexdef(c.oid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition
       AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid)
     ORDER BY c.relname`,
  );
  // Of a table with partitions it is printed with ONLY, which would leave them out.
  return rows.map(({ name, definition }) => ({ name, definition: definition.replace(' ON ONLY ', ' ON ') }));
}

async function assertCounts(db: Knex, tables: readonly ArchiveTable[]): Promise<void> {
  for (const { name, rows: wanted } of tables) {
    const { rows } = await db.raw<{ rows: { count: number }[] }>('SELECT count(*) AS count FROM ??', [name]);
    if (rows[0]?.count !== wanted)
      throw damaged(`table ${name} got ${rows[0]?.count} rows in place of ${wanted}`);
  }
}
