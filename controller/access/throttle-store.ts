/** Failed sign-ins in a row, by account and by address: one count for all controllers, also of accounts that do not exist. */
import type { Knex } from 'knex';

export interface Throttle {
  /** What is counted, for example `account:somebody@example.org`. */
  key: string;
  /** With this many failures it is blocked. */
  limit: number;
  /** After the last failure the count is forgotten. */
  windowMs: number;
  blockMs: number;
}

/**
 * Counts an attempt, before it is known whether it fails: guesses that are sent at once are counted one by one. Null where it
 * may go on, else until when it is blocked.
 */
export async function takeAttempt(db: Knex, throttle: Throttle, now: number): Promise<Date | null> {
  const { key, limit } = throttle;
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `INSERT INTO sign_in_throttles AS t (key, failures, window_ends_at) VALUES (:key, 1, :windowEnds)
     ON CONFLICT (key) DO UPDATE SET
       failures = CASE WHEN t.window_ends_at <= :now OR t.blocked_until <= :now THEN 1 ELSE t.failures + 1 END,
       blocked_until = CASE WHEN t.window_ends_at > :now AND t.blocked_until IS NULL AND t.failures + 1 >= :limit
         THEN :blockEnds::timestamptz END,
       window_ends_at = GREATEST(:windowEnds::timestamptz, :blockEnds::timestamptz)
     WHERE t.blocked_until IS NULL OR t.blocked_until <= :now RETURNING 1`,
    {
      key,
      limit,
      now: new Date(now),
      windowEnds: new Date(now + throttle.windowMs),
      blockEnds: new Date(now + throttle.blockMs),
    },
  );
  if (rows.length > 0) return null;
  const row: { blocked_until: Date | null } | undefined = await db('sign_in_throttles')
    .where({ key })
    .first('blocked_until');
  return row?.blocked_until ?? new Date(now + throttle.blockMs);
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
  await db('sign_in_throttles').where('window_ends_at', '<', now).delete();
}
