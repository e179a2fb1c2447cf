/**
 * Renders TypeScript types of the migrated schema for knex (`Tables`). A misspelt table or column fails to compile.
 * `bin/node test/tools/database/table-types.ts` writes `controller/database/tables.gen.ts`.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';

export const TABLES_FILE = fileURLToPath(
  new URL('../../../controller/database/tables.gen.ts', import.meta.url),
);

interface Column {
  table: string;
  name: string;
  /** As `format_type` prints it. */
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
  isGenerated: boolean;
}

/** As `pg` parses them with the parsers of `controller/database/connect.ts`. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  'character varying': 'string',
  'character(1)': 'string',
  uuid: 'string',
  inet: 'string',
  bigint: 'number',
  integer: 'number',
  smallint: 'number',
  numeric: 'number',
  real: 'number',
  'double precision': 'number',
  boolean: 'boolean',
  'timestamp with time zone': 'Date',
  date: 'Date',
  bytea: 'Buffer',
  json: 'Json',
  jsonb: 'Json',
  oid: 'number',
  xid8: 'string',
  interval: 'Interval',
};

const HEAD = `/** Generated from the migrated schema by test/tools/database/table-types.ts. Do not edit. */
import type { Knex } from 'knex';

// biome-ignore lint/suspicious/noExplicitAny: what a JSON column holds is checked where it is read.
type Json = any;
`;

export async function renderTableTypes(db: Knex): Promise<string> {
  const columns = await listColumns(db);
  const choices = await listChoices(db);
  const tables = [...new Set(columns.map(({ table }) => table))];
  const parts = tables.map((table) => {
    const own = columns.filter((column) => column.table === table);
    const typed = own.map((column) => ({ ...column, type: typeOf(column, choices) }));
    const row = typed.map(
      ({ name, type, isNullable }) => `  ${name}: ${type}${isNullable ? ' | null' : ''};`,
    );
    const written = typed
      .filter(({ isGenerated }) => !isGenerated)
      .map(({ name, type, isNullable, hasDefault }) => {
        const value = type.endsWith('[]') ? `readonly ${type}` : type;
        return `  ${name}${isNullable || hasDefault ? '?' : ''}: ${value}${isNullable ? ' | null' : ''} | Knex.Raw;`;
      });
    const name = pascal(table);
    return `export interface ${name}Row {\n${row.join('\n')}\n}\n\nexport interface ${name}Insert {\n${written.join('\n')}\n}\n`;
  });
  const members = tables.map(
    (table) =>
      `    ${table}: Knex.CompositeTableType<${pascal(table)}Row, ${pascal(table)}Insert, Partial<${pascal(table)}Insert>>;`,
  );
  return `${HEAD}\n${parts.join('\n')}\ndeclare module 'knex/types/tables.js' {\n  interface Tables {\n${members.join('\n')}\n  }\n}\n`;
}

function typeOf({ table, name, type }: Column, choices: ReadonlyMap<string, readonly string[]>): string {
  const values = choices.get(`${table}.${name}`);
  const [base = '', isArray] = type.endsWith('[]') ? [type.slice(0, -2), true] : [type, false];
  const known = values
    ? values.map((value) => `'${value}'`).join(' | ')
    : TYPES[base.replace(/\(\d+(,\d+)?\)$/, '')];
  if (known === undefined)
    throw new Error(`${table}.${name} has the type ${type}, which this tool does not know`);
  return isArray ? (values ? `(${known})[]` : `${known}[]`) : known;
}

const pascal = (table: string): string =>
  table.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());

async function listColumns(db: Knex): Promise<Column[]> {
  const { rows } = await db.raw(`
    SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
           NOT a.attnotnull AS "isNullable", a.atthasdef OR a.attidentity <> '' AS "hasDefault",
           a.attgenerated <> '' AS "isGenerated"
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname COLLATE "C", a.attname COLLATE "C"`);
  return rows;
}

const ONE_OF = /^CHECK \(\((\w+) = ANY \(ARRAY\[(.*)\]\)\)\)$/;

/** By \`table.column\`: the values that a check constraint allows. */
async function listChoices(db: Knex): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await db.raw<{ rows: { table: string; definition: string }[] }>(`
    SELECT c.relname AS "table", pg_get_constraintdef(k.oid) AS definition
      FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE k.contype = 'c' AND n.nspname = 'public'`);
  return new Map(
    rows.flatMap(({ table, definition }) => {
      const [, column, list] = ONE_OF.exec(definition) ?? [];
      if (!column || !list) return [];
      const values = [...list.matchAll(/'([^']*)'::text/g)].map(([, value = '']) => value);
      return [[`${table}.${column}`, values.sort()] as const];
    }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { connect } = await import('../../../controller/database/connect.ts');
  const { closeTestCluster, testDatabase } = await import('../../support/harness/postgres.ts');
  const { url, drop } = await testDatabase();
  const db = connect(url, { poolSize: 1 });
  await writeFile(TABLES_FILE, await renderTableTypes(db));
  await db.destroy();
  await drop();
  await closeTestCluster();
}
