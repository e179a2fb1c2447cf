/** Failed sign-ins in a row, by account and by address: one count for all controllers, also of accounts that do not exist. */
import type { Knex } from 'knex';

export interface Throttle {
  /** What is counted, for example `account:somebody@example.org`. */
  key: string;
  /** With this many failures it is blocked. */
  limit: number;
  windowMs: number;
  /** Whether the window begins with the last failure and not with the first. After it the count is forgotten. */
  slides: boolean;
  blockMs: number;
}

/**
 * Counts an attempt, before it is known whether it fails: guesses that are sent at once are counted one by one. Null where it
 * may go on, else until when it is blocked.
 */
export async function takeAttempt(db: Knex, throttle: Throttle, now: number): Promise<Date | null> {
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
  // Given back a moment ago: there is room again.
  return row?.blocked_until ?? new Date(now + 1_000);
}

/** The attempt was right: the account's count begins anew. */
export async function clearAttempts(db: Knex, key: string): Promise<void> {
  await db('sign_in_throttles').where({ key }).delete();
}

/** An attempt that was no failure is not counted; what others have failed at stays. */
export async function giveBackAttempt(db: Knex, key: string): Promise<void> {
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
