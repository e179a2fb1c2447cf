/** Tables in one partition per day (UTC): created ahead of time, dropped whole. Several replicas may do so at once. */
import type { Knex } from 'knex';

export interface DayPartitions {
  /** Creates missing partitions of these days. */
  ensure(db: Knex, days: readonly number[]): Promise<void>;
  /** Drops the partitions of days before `day`, one transaction each. Returns their number. */
  dropBefore(db: Knex, day: number): Promise<number>;
  drop(db: Knex, day: number): Promise<void>;
  /** Bytes of each day on disk including indexes, oldest day first. */
  sizes(db: Knex): Promise<{ day: number; bytes: number }[]>;
  /** Whether an insert failed because the partition of a row's day is missing. */
  isMissing(error: unknown): boolean;
}

const DAY_MS = 86_400_000;
/**
 * Attaching and dropping a partition needs locks that a long read holds. The operation gives up rather than make all writers
 * wait.
 */
const LOCK_TIMEOUT = '3s';

/** The start of the day (UTC), in milliseconds since 1970. */
export const dayOf = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS;
export const dayAfter = (day: number, days = 1): number => day + days * DAY_MS;

const isoDay = (day: number) => new Date(day).toISOString().slice(0, 10);

/**
 * `table` is partitioned by RANGE over a timestamptz; `lock` is the advisory lock of its changes, `storage` are storage
 * parameters of its partitions.
 */
export function dayPartitions(table: string, lock: number, storage?: string): DayPartitions {
  const partitionOf = (day: number) => `${table}_${isoDay(day).replaceAll('-', '')}`;
  const pattern = new RegExp(`^${table}_(\\d{4})(\\d\\d)(\\d\\d)$`);

  async function locked(db: Knex, work: (tx: Knex) => Promise<void>): Promise<void> {
    await db.transaction(async (tx) => {
      await tx.raw(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      await tx.raw('SELECT pg_advisory_xact_lock(?)', [lock]);
      await work(tx);
    });
  }

  async function sizes(db: Knex): Promise<{ day: number; bytes: number }[]> {
    const { rows } = await db.raw<{ rows: { name: string; bytes: string }[] }>(
      `SELECT c.relname AS name, pg_total_relation_size(c.oid)::text AS bytes
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = ?::regclass ORDER BY 1`,
      [table],
    );
    return rows.flatMap(({ name, bytes }) => {
      const match = pattern.exec(name);
      if (!match) return [];
      return {
        day: Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])),
        bytes: Number(bytes),
      };
    });
  }

  const drop = (db: Knex, day: number) =>
    locked(db, async (tx) => {
      await tx.raw('DROP TABLE IF EXISTS ??', [partitionOf(day)]);
    });

  return {
    ensure: (db, days) =>
      locked(db, async (tx) => {
        const existing = new Set((await sizes(tx)).map(({ day }) => day));
        for (const day of new Set(days)) {
          if (existing.has(day)) continue;
          // Created and then attached: creating it in place would block readers and writers of all days while it waits.
          await tx.raw(
            `CREATE TABLE ?? (LIKE ?? INCLUDING ALL EXCLUDING INDEXES)${storage ? ` WITH (${storage})` : ''}`,
            [partitionOf(day), table],
          );
          await tx.raw(
            `ALTER TABLE ?? ATTACH PARTITION ??
             FOR VALUES FROM ('${isoDay(day)}T00:00:00Z') TO ('${isoDay(dayAfter(day))}T00:00:00Z')`,
            [table, partitionOf(day)],
          );
        }
      }),
    async dropBefore(db, day) {
      const old = (await sizes(db)).filter((candidate) => candidate.day < day);
      for (const expired of old) await drop(db, expired.day);
      return old.length;
    },
    drop,
    sizes,
    isMissing(error) {
      const { code, message } = error as { code?: string; message?: string };
      return code === '23514' && (message ?? '').includes(`no partition of relation "${table}"`);
    },
  };
}
