/** Rows as one array per column: a statement of a fixed size for any number of rows. */

export type ColumnType =
  | 'text'
  | 'timestamptz'
  | 'integer'
  | 'bigint'
  | 'double precision'
  | 'boolean'
  | 'jsonb';
export type Column = readonly [name: string, type: ColumnType, values: unknown[]];

/**
 * Builds `unnest` with one array per column. JSON travels as text, since an array of jsonb would be parsed twice. The arrays
 * are written here and not by the driver, which quotes and escapes every number; that took a third of a batch's time.
 */
export function rowsOf(columns: readonly Column[]) {
  const arrays = columns.map(([, type]) => `?::${type === 'jsonb' ? 'text' : type}[]`).join(', ');
  const names = columns.map(([name]) => name).join(', ');
  const picked = columns
    .map(([name, type]) => (type === 'jsonb' ? `b.${name}::jsonb` : `b.${name}`))
    .join(', ');
  return {
    source: `unnest(${arrays}) AS b(${names})`,
    names,
    picked,
    values: columns.map(([, , values]) => arrayLiteral(values)),
  };
}

/** A Postgres array literal. */
export function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(element).join()}}`;
}

function element(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number') return String(value);
  const text = value instanceof Date ? value.toISOString() : String(value);
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
