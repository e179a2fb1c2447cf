/** Counts of failed sign-ins by account and by address, for all controllers together and also for unknown accounts. */
import type { Knex } from 'knex';

export interface Throttle {
  /** For example `account:somebody@example.org`. */
  key: string;
  /** The number of failures that blocks. */
  limit: number;
  windowMs: number;
  /** Whether the window begins with the last failure instead of the first. The count ends with the window. */
  slides: boolean;
  blockMs: number;
}

/**
 * Counts an attempt before it is evaluated, so that concurrent guesses are counted one by one. Null where the attempt may
 * continue, otherwise the end of the block.
 */
export async function countAttempt(db: Knex, throttle: Throttle, now: number): Promise<Date | null> {
  const { key, limit, slides } = throttle;
  const isOver = '(t.window_ends_at <= :now OR COALESCE(t.blocked_until <= :now, false))';
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `INSERT INTO sign_in_throttles AS t (key, failures, window_ends_at) VALUES (:key, 1, :windowEnds)
     ON CONFLICT (key) DO UPDATE SET
       failures = CASE WHEN ${isOver} THEN 1 ELSE t.failures + 1 END,
       blocked_until = CASE WHEN NOT ${isOver} AND t.failures + 1 >= :limit THEN :blockEnds::timestamptz END,
       window_ends_at = CASE WHEN :slides OR ${isOver} THEN :windowEnds::timestamptz ELSE t.window_ends_at END
     WHERE t.blocked_until IS NULL OR t.blocked_until <= :now RETURNING 1`,
    {
      key,
      limit,
      slides,
      now: new Date(now),
      windowEnds: new Date(now + throttle.windowMs),
      blockEnds: new Date(now + throttle.blockMs),
    },
  );
  if (rows.length > 0) return null;
  const row: { blocked_until: Date | null } | undefined = await db('sign_in_throttles')
    .where({ key })
    .first('blocked_until');
  // A concurrent `uncountAttempt` has lifted the block.
  return row?.blocked_until ?? new Date(now + 1_000);
}

/** Resets the count after a success. */
export async function clearAttempts(db: Knex, key: string): Promise<void> {
  await db('sign_in_throttles').where({ key }).delete();
}

/** Takes one attempt out of the count and keeps other failures. */
export async function uncountAttempt(db: Knex, key: string): Promise<void> {
  await db.raw(
    `UPDATE sign_in_throttles SET failures = GREATEST(failures - 1, 0), blocked_until = NULL WHERE key = ?`,
    [key],
  );
}

export async function deleteOldThrottles(db: Knex, now: Date): Promise<void> {
  await db.raw(
    `DELETE FROM sign_in_throttles
     WHERE window_ends_at < :now AND (blocked_until IS NULL OR blocked_until < :now)`,
    { now },
  );
}
