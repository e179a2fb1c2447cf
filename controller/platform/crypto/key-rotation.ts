/** From one key to the next in the database: every sealed text is opened with its own key and sealed with the newest. */
import type { Knex } from 'knex';
import { retryOnDeadlock } from '../../database/retry.ts';
import { type Keyring, KeyringError, sealedPrefix } from './keyring.ts';
import { SEALED_COLUMNS, type SealedColumn, sealingContext } from './sealed-columns.ts';

/** A text may have 2 MB, and a batch is in memory at once. */
const BATCH = 25;
/** Somebody who still sealed with an earlier key meanwhile makes another round necessary. */
const ROUNDS = 100;

export interface Resealed {
  count: number;
  /** Texts that no key opens, with the reason; they are left as they are. */
  unreadable: string[];
}

/** May be ended anywhere and run again: each text is whole at every moment, under the one key or the other. */
export async function resealAll(db: Knex, keyring: Keyring): Promise<Resealed> {
  const unreadable = new Map<string, string>();
  let count = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    let left = 0;
    for (const place of SEALED_COLUMNS) {
      const done = await resealColumn(db, keyring, place, unreadable);
      count += done.resealed;
      left += done.resealed + done.raced;
    }
    if (left === 0) return { count, unreadable: [...unreadable].map(([what, why]) => `${what}: ${why}`) };
  }
  throw new KeyringError(
    'somebody keeps sealing with an earlier key; restart the controllers that do, and run it again',
  );
}

interface Row {
  id: string;
  sealed: string;
}

async function resealColumn(
  db: Knex,
  keyring: Keyring,
  { table, column }: SealedColumn,
  unreadable: Map<string, string>,
): Promise<{ resealed: number; raced: number }> {
  let resealed = 0;
  let raced = 0;
  for (let after = ''; ; ) {
    const { rows } = await db.raw<{ rows: Row[] }>(
      `SELECT id, ${column} AS sealed FROM ${table}
       WHERE id > ? AND ${column} IS NOT NULL AND NOT starts_with(${column}, ?) ORDER BY id LIMIT ?`,
      [after, sealedPrefix(keyring.fingerprint), BATCH],
    );
    const last = rows.at(-1);
    if (!last) return { resealed, raced };
    after = last.id;
    const changes = rows.flatMap(({ id, sealed }) => {
      const place = sealingContext(table, id, column);
      try {
        return [{ id, sealed, again: keyring.seal(keyring.open(sealed, place), place) }];
      } catch (error) {
        if (!(error instanceof KeyringError)) throw error;
        unreadable.set(`${table} ${id}`, error.message);
        return [];
      }
    });
    const written = await replace(db, { table, column }, changes);
    resealed += written;
    raced += changes.length - written;
  }
}

/** Only where the text is still the one that was read: what anybody else has written meanwhile stays. */
async function replace(
  db: Knex,
  { table, column }: SealedColumn,
  changes: readonly (Row & { again: string })[],
): Promise<number> {
  if (changes.length === 0) return 0;
  return retryOnDeadlock(() =>
    db.transaction(async (tx) => {
      // Nothing changes that the git reconciler looks at.
      await tx.raw("SELECT set_config('headgate.reconciler', 'on', true)");
      const { rowCount } = await tx.raw<{ rowCount: number }>(
        `UPDATE ${table} t SET ${column} = c.again
       FROM unnest(?::text[], ?::text[], ?::text[]) AS c (id, sealed, again)
       WHERE t.id = c.id AND t.${column} = c.sealed`,
        [changes.map(({ id }) => id), changes.map(({ sealed }) => sealed), changes.map(({ again }) => again)],
      );
      return rowCount;
    }),
  );
}

/** How many texts there are, by the id of the key that sealed them. */
export async function countByKey(db: Knex): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { table, column } of SEALED_COLUMNS) {
    const { rows } = await db.raw<{ rows: { key: string; count: number }[] }>(
      `SELECT split_part(${column}, '.', 2) AS key, count(*)::integer AS count FROM ${table}
       WHERE ${column} IS NOT NULL GROUP BY 1`,
    );
    for (const { key, count } of rows) counts.set(key, (counts.get(key) ?? 0) + count);
  }
  return counts;
}
