/** Log lines, in a partition for each day (UTC) of receipt. */
import { isAscii } from 'node:buffer';
import type { Knex } from 'knex';
import type { LogLevel, LogLine, LogPage } from '../../../schemas/api/logs.ts';

export interface NewLine {
  receivedAt: Date;
  nodeId: string;
  pipelineId: string;
  level: LogLevel;
  line: string;
}

/** One statement. The order of the lines is the order of their numbers. */
export async function insertLines(db: Knex, lines: readonly NewLine[]): Promise<void> {
  const of = <T>(pick: (line: NewLine) => T) => lines.map(pick);
  await db.raw(
    `INSERT INTO log_lines (received_at, node_id, pipeline_id, level, line)
     SELECT * FROM unnest(?::timestamptz[], ?::text[], ?::text[], ?::text[], ?::text[])`,
    [
      of((l) => l.receivedAt),
      of((l) => l.nodeId),
      of((l) => l.pipelineId),
      of((l) => l.level),
      of((l) => l.line),
    ],
  );
}

/** The insert found no partition for a line's day. */
export function lacksPartition(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return code === '23514' && /no partition of relation "log_lines"/.test(message ?? '');
}

// Partitions

const DAY_MS = 86_400_000;
const LOCK = 7_236_003;
/** A partition is attached and dropped under locks that a long read holds up; better not now than all writers waiting. */
const LOCK_TIMEOUT = '3s';

/** The start of the day (UTC), in milliseconds since 1970. */
export const dayOf = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS;
export const dayAfter = (day: number, days = 1): number => day + days * DAY_MS;

const isoDay = (day: number) => new Date(day).toISOString().slice(0, 10);
const partitionOf = (day: number) => `log_lines_${isoDay(day).replaceAll('-', '')}`;

/** Makes the partitions that are missing. Replicas may ask for the same at once. */
export async function ensureDays(db: Knex, days: readonly number[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.raw(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
    const there = new Set(await listDays(tx));
    for (const day of new Set(days)) {
      if (there.has(day)) continue;
      // Attached, not made in place: that would keep readers and writers of all days out while it waits.
      await tx.raw(`CREATE TABLE ?? (LIKE log_lines INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`, [
        partitionOf(day),
      ]);
      await tx.raw(
        `ALTER TABLE log_lines ATTACH PARTITION ??
         FOR VALUES FROM ('${isoDay(day)}T00:00:00Z') TO ('${isoDay(dayAfter(day))}T00:00:00Z')`,
        [partitionOf(day)],
      );
    }
  });
}

/** Drops the partitions of the days before `day`, each on its own. Answers how many. */
export async function dropDaysBefore(db: Knex, day: number): Promise<number> {
  const old = (await listDays(db)).filter((one) => one < day);
  for (const one of old) await dropDay(db, one);
  return old.length;
}

export async function dropDay(db: Knex, day: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.raw(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
    await tx.raw('DROP TABLE IF EXISTS ??', [partitionOf(day)]);
  });
}

const listDays = async (db: Knex): Promise<number[]> => (await listDaySizes(db)).map(({ day }) => day);

/** What each day takes on disk with its indexes, in bytes; the oldest day first. */
export async function listDaySizes(db: Knex): Promise<{ day: number; bytes: number }[]> {
  const { rows } = await db.raw<{ rows: { name: string; bytes: string }[] }>(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid)::text AS bytes
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'log_lines'::regclass ORDER BY 1`,
  );
  return rows.flatMap(({ name, bytes }) => {
    const found = /^log_lines_(\d{4})(\d\d)(\d\d)$/.exec(name);
    if (!found) return [];
    return { day: Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])), bytes: Number(bytes) };
  });
}

// Reading

export interface LineFilter {
  /** Whose lines. By node where both are given: a node runs few pipelines, a pipeline may run on many nodes. */
  nodeId?: string | undefined;
  pipelineId?: string | undefined;
  /** Only lines before this number. */
  cursor?: string | undefined;
  limit: number;
  levels?: readonly LogLevel[] | undefined;
  since?: Date | undefined;
  contains?: string | undefined;
}

/** Lines that one page may look at, so that a filter which nothing meets does not read days of lines. */
export const MAX_LINES_SCANNED = 50_000;
/** Several replicas store: the times of receipt are in the order of the numbers only roughly. */
const DISORDER_MS = 60_000;

interface FoundLine extends LogLine {
  hit: boolean;
  /** The last line that this page may look at. */
  last: boolean;
  tooOld: boolean;
}

/**
 * One statement that goes down an index from the cursor, newest first, and stops at a full page. A page may hold fewer
 * lines than its limit and still have a cursor: it looked at `LOOKED_AT` lines then.
 */
export async function findLines(db: Knex, filter: LineFilter): Promise<LogPage> {
  const { sql, values } = pageQuery(filter);
  const rows = await db.transaction(async (tx) => {
    // The limit of lines looked at makes sorting a day seem cheap to the planner, and it is not once a day is large.
    await tx.raw('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
    return (await tx.raw<{ rows: FoundLine[] }>(sql, values)).rows;
  });
  const hits = rows.filter((row) => row.hit);
  const lines = hits.slice(0, filter.limit).map(({ hit, last, tooOld, ...line }) => line);
  if (hits.length > filter.limit) return { lines, nextCursor: lines.at(-1)?.seq ?? null };
  const goOn = rows.some((row) => row.tooOld) ? undefined : rows.find((row) => row.last);
  return { lines, nextCursor: goOn?.seq ?? null };
}

/** The statement of a page; its own function so that a test can ask Postgres how it would run it. */
export function pageQuery(filter: LineFilter): { sql: string; values: Record<string, Knex.Value> } {
  const { nodeId, pipelineId, cursor, limit, levels, since, contains } = filter;
  const conditions = [
    nodeId !== undefined && pipelineId !== undefined && 'pipeline_id = :pipelineId',
    levels && 'level = ANY(:levels::text[])',
    since && 'received_at >= :since',
    contains && `line ${collationFor(contains)} ILIKE '%' || :contains || '%'`,
  ].filter((condition) => typeof condition === 'string');
  const sql = `
    SELECT l.seq::text AS seq, l.received_at AS "receivedAt", l.node_id AS "nodeId", n.name AS "nodeName",
      l.pipeline_id AS "pipelineId", p.name AS "pipelineName", l.level, l.line, l.hit, l.last, l.too_old AS "tooOld"
    FROM (
      SELECT * FROM (
        SELECT *, ${conditions.join(' AND ') || 'true'} AS hit,
          row_number() OVER (ORDER BY seq DESC) = :lookedAt AS last,
          ${since ? 'received_at < :tooOld' : 'false'} AS too_old
        FROM (
          SELECT * FROM log_lines
          WHERE ${nodeId === undefined ? 'pipeline_id = :pipelineId' : 'node_id = :nodeId'}
            ${cursor === undefined ? '' : 'AND seq < :cursor'} ${since ? 'AND received_at >= :oldestDay' : ''}
          ORDER BY seq DESC LIMIT :lookedAt
        ) looked
      ) judged
      WHERE hit OR last OR too_old
      ORDER BY seq DESC LIMIT :rows
    ) l
    LEFT JOIN nodes n ON n.id = l.node_id
    LEFT JOIN pipelines p ON p.id = l.pipeline_id
    ORDER BY l.seq DESC`;
  const values: Record<string, Knex.Value> = {
    lookedAt: conditions.length > 0 ? MAX_LINES_SCANNED : limit + 1,
    rows: limit + 1,
  };
  if (nodeId !== undefined) values.nodeId = nodeId;
  if (pipelineId !== undefined) values.pipelineId = pipelineId;
  if (cursor !== undefined) values.cursor = cursor;
  if (levels) values.levels = [...levels];
  if (contains) values.contains = contains.replace(/[\\%_]/g, '\\$&');
  if (since) {
    values.since = since;
    values.tooOld = new Date(since.getTime() - DISORDER_MS);
    values.oldestDay = new Date(dayOf(since.getTime() - DISORDER_MS));
  }
  return { sql, values };
}

/**
 * ILIKE folds every line by the rules of its collation. Text of ASCII alone needs those of ASCII alone, which cost half as
 * much as those of the embedded database and a third of those of ICU.
 */
const collationFor = (contains: string): string => (isAscii(Buffer.from(contains)) ? 'COLLATE "C"' : '');

// Nodes

/** The node's lines come by the endpoint for logs from now on. False where it has not sent a heartbeat yet. */
export async function rememberDelivering(db: Knex, nodeId: string): Promise<boolean> {
  const changed = await db('node_reports').where({ node_id: nodeId }).update({ delivers_logs: true });
  return changed > 0;
}
