/** Changes that people make: only of rows that git does not describe. */
import type { Knex } from 'knex';
import { notFound, preconditionFailed } from '../platform/errors.ts';
import { findManifestOf, lockRow, NOUNS, type OwnedTable } from './store.ts';

export interface EditableRow {
  id: string;
  environmentId: string;
  name: string;
}

/**
 * The row, locked until the transaction ends.
 * @throws NOT_FOUND where it is gone; PRECONDITION_FAILED with path and line where a manifest describes it.
 */
export async function lockEditable(tx: Knex, table: OwnedTable, id: string): Promise<EditableRow> {
  const noun = NOUNS[table];
  const row = await lockRow(tx, table, id);
  if (!row) throw notFound(`${noun[0]?.toUpperCase()}${noun.slice(1)}`);
  if (row.managedBy === 'git') throw await describedInGit(tx, table, row);
  return row;
}

/** What is said to whoever wants to change by hand what git describes. */
export async function describedInGit(db: Knex, table: OwnedTable, row: { id: string; name: string }) {
  const manifest = await findManifestOf(db, row.id);
  const where = manifest ? ` (${manifest.path}:${manifest.line})` : '';
  return preconditionFailed(
    `The ${NOUNS[table]} "${row.name}" is described in git${where}; change it there and push, and it follows`,
    { managedBy: 'git', path: manifest?.path ?? null, line: manifest?.line ?? null },
  );
}
