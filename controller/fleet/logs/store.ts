/** Stores log lines in one partition per day (UTC) of receipt. */
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

/** One statement. Sequence numbers follow the order of the lines. */
export async function insertLines(db: Knex, lines: readonly NewLine[]): Promise<void> {
  const values = <T>(pick: (line: NewLine) => T) => lines.map(pick);
  await db.raw(
    `INSERT INTO log_lines (received_at, node_id, pipeline_id, level, line)
     SELECT * FROM unnest(?::timestamptz[], ?::text[], ?::text[], ?::text[], ?::text[])`,
    [
      values((l) => l.receivedAt),
      values((l) => l.nodeId),
      values((l) => l.pipelineId),
      values((l) => l.level),
      values((l) => l.line),
    ],
  );
}

/** Whether an insert failed because the partition of a line's day is missing. */
export function isPartitionMissing(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return code === '23514' && /no partition of relation "log_lines"/.test(message ?? '');
}

// Partitions

const DAY_MS = 86_400_000;
const LOCK = 7_236_003;
/**
 * Attaching and dropping a partition needs locks that a long read holds. The operation gives up rather than make all writers
 * wait.
 */
const LOCK_TIMEOUT = '3s';

/** The start of the day (UTC), in milliseconds since 1970. */
export const dayOf = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS;
export const dayAfter = (day: number, days = 1): number => day + days * DAY_MS;

const isoDay = (day: number) => new Date(day).toISOString().slice(0, 10);
const partitionOf = (day: number) => `log_lines_${isoDay(day).replaceAll('-', '')}`;

/** Creates missing partitions. Several replicas may do so at once. */
export async function ensureDays(db: Knex, days: readonly number[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.raw(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
    const existing = new Set(await listDays(tx));
    for (const day of new Set(days)) {
      if (existing.has(day)) continue;
      // Created and then attached: creating it in place would block readers and writers of all days while it waits.
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

/** Drops the partitions of days before `day`, one transaction each. Returns their number. */
export async function dropDaysBefore(db: Knex, day: number): Promise<number> {
  const old = (await listDays(db)).filter((candidate) => candidate < day);
  for (const expired of old) await dropDay(db, expired);
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

/** Bytes of each day on disk including indexes, oldest day first. */
export async function listDaySizes(db: Knex): Promise<{ day: number; bytes: number }[]> {
  const { rows } = await db.raw<{ rows: { name: string; bytes: string }[] }>(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid)::text AS bytes
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'log_lines'::regclass ORDER BY 1`,
  );
  return rows.flatMap(({ name, bytes }) => {
    const match = /^log_lines_(\d{4})(\d\d)(\d\d)$/.exec(name);
    if (!match) return [];
    return { day: Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])), bytes: Number(bytes) };
  });
}

// Reading

export interface LineFilter {
  /** With both ids, the query uses the index by node: a node runs few pipelines, a pipeline may run on many nodes. */
  nodeId?: string | undefined;
  pipelineId?: string | undefined;
  /** Only lines before this number. */
  cursor?: string | undefined;
  limit: number;
  levels?: readonly LogLevel[] | undefined;
  since?: Date | undefined;
  contains?: string | undefined;
}

/** Lines that one page may scan, so that a filter without matches does not read days of lines. */
export const MAX_LINES_SCANNED = 50_000;
/** Several replicas store lines, so receipt times follow the sequence numbers only roughly. */
const DISORDER_MS = 60_000;

interface FoundLine extends LogLine {
  hit: boolean;
  /** The last line that this page may scan. */
  last: boolean;
  tooOld: boolean;
}

/**
 * Reads one page by one statement that scans an index from the cursor, newest first, until the page is full. A page may hold
 * fewer lines than its limit and still have a cursor; then it has scanned `MAX_LINES_SCANNED` lines.
 */
export async function findLines(db: Knex, filter: LineFilter): Promise<LogPage> {
  const { sql, values } = pageQuery(filter);
  const rows = await db.transaction(async (tx) => {
    // The scan limit makes the planner believe that sorting a day is cheap, which is wrong for a large day.
    await tx.raw('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
    return (await tx.raw<{ rows: FoundLine[] }>(sql, values)).rows;
  });
  const hits = rows.filter((row) => row.hit);
  const lines = hits.slice(0, filter.limit).map(({ hit, last, tooOld, ...line }) => line);
  if (hits.length > filter.limit) return { lines, nextCursor: lines.at(-1)?.seq ?? null };
  const lastScanned = rows.some((row) => row.tooOld) ? undefined : rows.find((row) => row.last);
  return { lines, nextCursor: lastScanned?.seq ?? null };
}

/** The statement of a page. A function of its own, so that a test can ask Postgres for its plan. */
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
          row_number() OVER (ORDER BY seq DESC) = :scanLimit AS last,
          ${since ? 'received_at < :tooOld' : 'false'} AS too_old
        FROM (
          SELECT * FROM log_lines
          WHERE ${nodeId === undefined ? 'pipeline_id = :pipelineId' : 'node_id = :nodeId'}
            ${cursor === undefined ? '' : 'AND seq < :cursor'} ${since ? 'AND received_at >= :oldestDay' : ''}
          ORDER BY seq DESC LIMIT :scanLimit
        ) scanned
      ) matched
      WHERE hit OR last OR too_old
      ORDER BY seq DESC LIMIT :rows
    ) l
    LEFT JOIN nodes n ON n.id = l.node_id
    LEFT JOIN pipelines p ON p.id = l.pipeline_id
    ORDER BY l.seq DESC`;
  const values: Record<string, Knex.Value> = {
    scanLimit: conditions.length > 0 ? MAX_LINES_SCANNED : limit + 1,
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
 * ILIKE folds every line by its collation. ASCII text needs only the collation "C", which costs half as much as the embedded
 * database's and a third of ICU's.
 */
const collationFor = (contains: string): string => (isAscii(Buffer.from(contains)) ? 'COLLATE "C"' : '');

// Nodes

/** Records that the node delivers its lines by /api/agent/logs. Returns false if it has not sent a heartbeat yet. */
export async function recordLogDelivery(db: Knex, nodeId: string): Promise<boolean> {
  const changed = await db('node_reports').where({ node_id: nodeId }).update({ delivers_logs: true });
  return changed > 0;
}
