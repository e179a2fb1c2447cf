/**
 * The audit log for users: newest first, with filters. A page walks down indexes and scans a limited number of events, so
 * that a filter without matches does not read the whole log.
 */
import type { Knex } from 'knex';
import { type AuditEntryView, type AuditFilter, SCIM_ALL } from '../../../schemas/api/insight/audit.ts';
import { EVENT_COLUMNS } from './store.ts';

export interface AuditViewer {
  userId: string;
  /** Null means all teams, and events without a team. */
  teamIds: readonly string[] | null;
}

export interface AuditQuery extends Omit<AuditFilter, 'startDate' | 'endDate'> {
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
  /** Only events before this number. */
  before?: number | undefined;
  limit: number;
}

export interface AuditRows {
  entries: AuditEntryView[];
  /** The cursor of the next page; null at the end. */
  next: number | null;
}

/** Events that one page may scan: with a search, which builds a text of each event; without one; and at least per stream. */
const SCAN_LIMITS = { searched: 20_000, others: 50_000, least: 500 };
/** The limit where an index gives single rows: each is on another page of the table and costs as much as several in sequence. */
const SCATTERED_SCAN_LIMIT = 10_000;
export const SCIM_TYPES = ['ScimUser', 'ScimGroup'];

/**
 * Numbers follow the order of commits, but times are those of the start of the transactions. So events of one moment may be
 * this far apart in the order of numbers.
 */
const DISORDER = { time: `interval '1 hour'`, events: 1_000 };

type Values = Record<string, Knex.Value>;
interface Found extends AuditEntryView {
  hit: boolean;
  /** The number down to which all streams were read; 0 where all were read to their end. */
  floor: number;
}

/** Because of the scan limit the planner takes sorting a large part of the log for cheap, which it is not. */
export const DOWN_INDEXES = ['seqscan', 'bitmapscan', 'sort', 'incremental_sort']
  .map((way) => `SET LOCAL enable_${way} = off`)
  .join('; ');

/** A page may have fewer events than its limit and still a next page, when it reached its scan limit. */
export async function findEvents(
  db: Knex,
  viewer: AuditViewer,
  query: AuditQuery,
  scanLimits = SCAN_LIMITS,
): Promise<AuditRows> {
  const { sql, values } = pageQuery(viewer, query, scanLimits);
  const rows = await db.transaction(async (tx) => {
    await tx.raw(DOWN_INDEXES);
    return (await tx.raw<{ rows: Found[] }>(sql, values)).rows;
  });
  const floor = rows[0]?.floor ?? 0;
  const hits = rows.filter(({ hit }) => hit);
  const entries = hits.slice(0, query.limit).map(({ hit, floor, ...entry }) => entry);
  if (hits.length > query.limit) return { entries, next: entries.at(-1)?.seq ?? null };
  return { entries, next: floor > 0 ? floor : null };
}

/** The statement of a page; a function of its own so that a test can check the plan of Postgres. */
export function pageQuery(
  viewer: AuditViewer,
  query: AuditQuery,
  scanLimits = SCAN_LIMITS,
): { sql: string; values: Values } {
  const { limit, before = Number.MAX_SAFE_INTEGER } = query;
  const { predicates, values } = predicatesOf(viewer, query);
  const streams = streamsOf(viewer, query);
  const sql = `
    SELECT ${EVENT_COLUMNS.map((column) => `a.${column}`).join(', ')},
      coalesce(nullif(u.name, ''), CASE WHEN a.actor_type = 'service_account' THEN a.user_email END) AS "actorName",
      t.name AS "teamName", e.name AS "environmentName", a.hit, a.floor
    FROM (
      SELECT * FROM (SELECT *, coalesce(max(seq) FILTER (WHERE last) OVER (), 0) AS floor FROM (
        ${streams.map((stream) => `SELECT l.* FROM ${stream.over} AS of (key), LATERAL (${streamSql(stream, query, predicates)}) l`).join('\n        UNION ALL ')}
      ) streams) found
      WHERE hit AND seq >= floor OR seq = floor ORDER BY seq DESC LIMIT :rows + 1
    ) a
    LEFT JOIN users u ON u.id = a.user_id AND a.actor_type = 'user'
    LEFT JOIN teams t ON t.id = a.team_id
    LEFT JOIN environments e ON e.id = a.environment_id
    ORDER BY a.seq DESC`;
  const parts = Math.max(
    1,
    streams.reduce((sum, { parts }) => sum + parts, 0),
  );
  const inOrder = query.search === undefined ? scanLimits.others : scanLimits.searched;
  const most = streams.every(({ column }) => column === null)
    ? inOrder
    : Math.min(inOrder, SCATTERED_SCAN_LIMIT);
  return {
    sql,
    values: {
      ...values,
      before,
      rows: limit + 1,
      scanLimit: Math.max(scanLimits.least, limit + 1, Math.floor(most / parts)),
    },
  };
}

/**
 * Walks down one index. The bounds are compared as rows, not as a column that equals the key: the planner does not know that
 * the key is rare and would otherwise walk down the numbers of the whole log.
 */
function streamSql(
  { column, where }: Stream,
  { from, to }: AuditQuery,
  predicates: readonly string[],
): string {
  // Bounds of the numbers for the times, so that old events are found as fast as new ones.
  const upper = to
    ? `least(:before::bigint, coalesce((SELECT max(seq) + 1 FROM (SELECT seq FROM audit_log
        WHERE created_at < :to::timestamptz + ${DISORDER.time} AND seq IS NOT NULL
        ORDER BY created_at DESC LIMIT ${DISORDER.events}) ends), 0))`
    : ':before::bigint';
  const lower = from
    ? `coalesce((SELECT min(seq) FROM (SELECT seq FROM audit_log
        WHERE created_at >= :from::timestamptz - ${DISORDER.time} AND seq IS NOT NULL
        ORDER BY created_at LIMIT ${DISORDER.events}) begins), :before::bigint)`
    : '0';
  const bounds =
    column === null
      ? `seq < ${upper} AND seq >= ${lower}`
      : `(${column}, seq) < (key, ${upper}) AND (${column}, seq) >= (key, ${lower})`;
  const order = column === null ? 'seq DESC' : `${column} DESC, seq DESC`;
  return `
    SELECT * FROM (
      SELECT *, (${predicates.join(' AND ') || 'true'}) AS hit, row_number() OVER (ORDER BY ${order}) = :scanLimit AS last
      FROM (
        SELECT * FROM audit_log WHERE ${bounds} AND ${where} AND seq IS NOT NULL ORDER BY ${order} LIMIT :scanLimit
      ) scanned
    ) evaluated WHERE hit OR last ORDER BY ${order} LIMIT :rows`;
}

/** The conditions of the filters and of visibility, whichever index the event came from. */
function predicatesOf(
  { userId: viewerId, teamIds }: AuditViewer,
  query: AuditQuery,
): { predicates: string[]; values: Values } {
  const { action, userId, actorType, entityType, search, teamId, environmentId, from, to } = query;
  const values: Values = {};
  const given = (name: string, value: Knex.Value | undefined): boolean => {
    if (value !== undefined) values[name] = value;
    return value !== undefined;
  };
  if (teamIds !== null) {
    values.viewerId = viewerId;
    values.teamIds = [...teamIds];
  }
  const predicates = [
    teamIds !== null && VISIBLE,
    given('action', action) && 'action = :action',
    given('userId', userId) && 'user_id = :userId',
    given('actorType', actorType) && 'actor_type = :actorType',
    given('entityTypes', entityType === undefined ? undefined : typesOf(entityType)) &&
      'entity_type = ANY(:entityTypes::text[])',
    given('teamId', teamId) &&
      `(team_id = :teamId OR team_id IS NULL AND environment_id IN (SELECT id FROM environments WHERE team_id = :teamId))`,
    given('environmentId', environmentId) && 'environment_id = :environmentId',
    given('from', from) && 'created_at >= :from',
    given('to', to) && 'created_at < :to',
    given('search', search) &&
      `strpos(lower(concat_ws(' ', action, entity_type, entity_id, user_email, ip_address, commit_sha, metadata, diff)), lower(:search)) > 0`,
  ].filter((predicate) => typeof predicate === 'string');
  return { predicates, values };
}

const VISIBLE = `(team_id = ANY(:teamIds::text[])
  OR team_id IS NULL AND environment_id IN (SELECT id FROM environments WHERE team_id = ANY(:teamIds::text[]))
  OR team_id IS NULL AND environment_id IS NULL AND user_id = :viewerId)`;

const typesOf = (entityType: string): string[] => (entityType === SCIM_ALL ? SCIM_TYPES : [entityType]);

/** A part of the log, read by an index on a column and the number. Each event is in one stream only. */
interface Stream {
  /** SQL for the keys of the column. */
  over: string;
  /** Null reads the whole log by number. */
  column: string | null;
  where: string;
  /** The approximate number of keys. */
  parts: number;
}

/** The narrowest index that a filter allows, otherwise the indexes of the viewer's teams. */
function streamsOf({ teamIds }: AuditViewer, query: AuditQuery): Stream[] {
  const one = (column: string, key: string, where = 'true'): Stream[] => [
    { over: `(VALUES (${key}::text))`, column, where, parts: 1 },
  ];
  if (query.environmentId !== undefined) return one('environment_id', ':environmentId');
  if (query.userId !== undefined) return one('user_id', ':userId');
  if (query.teamId !== undefined) return teamStreams('ARRAY[:teamId]::text[]', 1);
  if (teamIds !== null)
    return [
      ...teamStreams(':teamIds::text[]', teamIds.length),
      ...one('user_id', ':viewerId', 'team_id IS NULL AND environment_id IS NULL'),
    ];
  if (query.action !== undefined) return one('action', ':action');
  if (query.entityType !== undefined)
    return [{ over: 'unnest(:entityTypes::text[])', column: 'entity_type', where: 'true', parts: 2 }];
  return [{ over: '(VALUES (1))', column: null, where: 'true', parts: 1 }];
}

/** Events of git have no team, only an environment. */
const teamStreams = (ids: string, teams: number): Stream[] => [
  { over: `unnest(${ids})`, column: 'team_id', where: 'true', parts: teams },
  {
    over: `(SELECT id FROM environments WHERE team_id = ANY(${ids}))`,
    column: 'environment_id',
    where: 'team_id IS NULL',
    parts: 3 * teams,
  },
];
