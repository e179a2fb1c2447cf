/**
 * Leadership: a row with an epoch that every write of a reconciler checks in its own transaction (fencing), so that a
 * leader which was paused or cut off cannot write once another has taken over. The row's expiry alone decides; clocks of
 * replicas are not compared, only Postgres' own clock is.
 */
import type { Knex } from 'knex';
import { messageOf, unavailable } from '../operation/errors.ts';
import { newId } from '../operation/ids.ts';
import type { Logger } from './logger.ts';

/**
 * A fenced transaction holds the lease's key, which its holder renews all the same, however long the transaction takes. One
 * whose process hangs or is cut off would keep everybody else from taking the lease for as long: Postgres ends it when it
 * asks nothing for so long.
 */
const IDLE_MS = 5_000;

/** A row that is good for longer was written before the clock was set back. Its holder, should it live, is fenced off. */
const LONGEST_MS = 120_000;

export interface Lease {
  /** The epoch while this process holds the lease, else null. */
  epoch(): number | null;
  /** Throws UNAVAILABLE inside `tx` unless this process still holds the lease at `epoch`, and keeps others from taking it until `tx` ends, which Postgres ends after 5 s without a statement. */
  fence(tx: Knex, epoch: number): Promise<void>;
  onChange(listener: (leading: boolean) => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface LeaseOptions {
  db: Knex;
  key: string;
  log: Logger;
  ttlMs?: number;
  renewMs?: number;
}

export function createLease(options: LeaseOptions): Lease {
  const { db, key, log } = options;
  const ttlMs = options.ttlMs ?? 4_000;
  const renewMs = options.renewMs ?? 1_000;
  const holder = `${process.pid}-${newId()}`;
  const listeners: ((leading: boolean) => void)[] = [];
  let held: { epoch: number; until: number } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let ongoing: Promise<void> = Promise.resolve();
  let stopped = false;

  const leads = () => held !== null && performance.now() < held.until;

  /** A lease that ran out while the database hung is taken again: nobody did the work of that time. */
  function set(next: typeof held): void {
    const changed = next === null ? held !== null : !leads();
    held = next;
    if (changed) for (const listener of listeners) listener(next !== null);
  }

  /** Renews the lease where it is ours, or else takes it where that may be. */
  async function claim(): Promise<void> {
    // Measured from before the question was asked, so that we never believe longer than Postgres does.
    let askedAt = performance.now();
    let epoch = await renewOwn();
    if (epoch === null) {
      askedAt = performance.now();
      epoch = await take();
    }
    set(epoch === null ? null : { epoch, until: askedAt + ttlMs });
  }

  /** Names no column of a unique index, so that it does not wait for fenced transactions. */
  async function renewOwn(): Promise<number | null> {
    const { rows } = await db.raw<{ rows: { epoch: string }[] }>(
      `UPDATE leases SET expires_at = clock_timestamp() + :ttl * interval '1 millisecond'
       WHERE key = :key AND holder = :holder RETURNING epoch`,
      { key, holder, ttl: ttlMs },
    );
    return rows[0] ? Number(rows[0].epoch) : null;
  }

  /** Takes the lease where it is free, run out, or not of this time; the epoch grows with every change of hands. */
  async function take(): Promise<number | null> {
    const { rows } = await db.raw<{ rows: { epoch: string }[] }>(
      `INSERT INTO leases AS l (key, holder, epoch, expires_at)
       VALUES (:key, :holder, 1, clock_timestamp() + :ttl * interval '1 millisecond')
       ON CONFLICT (key) DO UPDATE SET
         epoch = l.epoch + 1,
         holder = excluded.holder,
         expires_at = clock_timestamp() + :ttl * interval '1 millisecond'
       WHERE l.expires_at < clock_timestamp()
         OR l.expires_at > clock_timestamp() + :longest * interval '1 millisecond'
       RETURNING epoch`,
      { key, holder, ttl: ttlMs, longest: LONGEST_MS },
    );
    return rows[0] ? Number(rows[0].epoch) : null;
  }

  function tick(): Promise<void> {
    ongoing = renew();
    return ongoing;
  }

  async function renew(): Promise<void> {
    if (stopped) return;
    try {
      await claim();
    } catch (error) {
      log.warn({ key, reason: messageOf(error) }, 'lease not renewed');
      if (held && performance.now() > held.until) set(null);
    }
    if (stopped) return;
    timer = setTimeout(() => void tick(), renewMs);
    timer.unref();
  }

  return {
    epoch: () => (held && leads() ? held.epoch : null),
    async fence(tx, epoch) {
      const { rows } = await tx.raw<{ rows: unknown[] }>(
        `SELECT set_config('idle_in_transaction_session_timeout', ?, true) FROM leases
         WHERE key = ? AND holder = ? AND epoch = ? AND expires_at > clock_timestamp() FOR KEY SHARE`,
        [String(IDLE_MS), key, holder, epoch],
      );
      if (rows.length === 0)
        throw unavailable(`this controller no longer holds the lease "${key}"; its write was refused`);
    },
    onChange: (listener) => void listeners.push(listener),
    start: tick,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      // One that is on its way must not take the lease after it was given back.
      await ongoing;
      // Run out, not deleted: the epoch of the next holder must be a greater one.
      if (held)
        await db('leases')
          .where({ key, holder })
          .update({ expires_at: db.raw("'-infinity'") })
          .catch(() => {});
      set(null);
    },
  };
}
