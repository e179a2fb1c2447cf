/** Stores log lines in one partition per day (UTC) of receipt. */
import { isAscii } from 'node:buffer';
import type { Knex } from 'knex';
import type { LogLevel, LogLine, LogPage } from '../../../schemas/api/fleet/logs.ts';
import { dayOf, dayPartitions } from '../../database/day-partitions.ts';

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

/** One partition per day of receipt. */
export const logDays = dayPartitions('log_lines', 7_236_003);

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
