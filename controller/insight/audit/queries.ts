/**
 * The audit log as people look at it: newest first, by filters. A page goes down indexes and looks at so many events at
 * most, so that a filter which nothing meets does not read the whole log.
 */
import type { Knex } from 'knex';
import { type AuditEntryView, type AuditFilter, SCIM_ALL } from '../../../schemas/api/audit.ts';
import { EVENT_COLUMNS } from './store.ts';

export interface AuditViewer {
  userId: string;
  /** Null is every one, and what belongs to none. */
  teamIds: readonly string[] | null;
}

export interface AuditQuery extends Omit<AuditFilter, 'startDate' | 'endDate'> {
  /** From this moment on. */
  from?: Date | undefined;
  /** Before this moment. */
  to?: Date | undefined;
  /** Only events before this number. */
  before?: number | undefined;
  limit: number;
}

export interface AuditRows {
  entries: AuditEntryView[];
  /** To go on from; null at the end. */
  next: number | null;
}

/** Events that one page may look at: with a search, whose text is put together from each, without one, and of each stream. */
const LOOKED_AT = { searched: 20_000, others: 50_000, least: 500 };
/** At most, where an index names them one by one: each lies on another page of the table then, and costs several of the others. */
const SCATTERED = 10_000;
export const SCIM_TYPES = ['ScimUser', 'ScimGroup'];

/**
 * The order of numbers is that of commits, and the times are those at which the transactions began. An event of one moment
 * stands at most so far from others of it.
 */
const DISORDER = { time: `interval '1 hour'`, events: 1_000 };

type Values = Record<string, Knex.Value>;
interface Found extends AuditEntryView {
  hit: boolean;
  /** Nothing is known of what lies below it: some stream was not read to its end. 0 where all were. */
  floor: number;
}

/** The limit of events looked at makes sorting a large part of the log seem cheap to the planner, and it is not. */
export const DOWN_INDEXES = ['seqscan', 'bitmapscan', 'sort', 'incremental_sort']
  .map((way) => `SET LOCAL enable_${way} = off`)
  .join('; ');

/** A page may hold fewer events than its limit and still go on: it looked at as many as it may. */
export async function findEvents(
  db: Knex,
  viewer: AuditViewer,
  query: AuditQuery,
  lookedAt = LOOKED_AT,
): Promise<AuditRows> {
  const { sql, values } = pageQuery(viewer, query, lookedAt);
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

/** The statement of a page; its own function so that a test can ask Postgres how it would run it. */
export function pageQuery(
  viewer: AuditViewer,
  query: AuditQuery,
  lookedAt = LOOKED_AT,
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
  const inOrder = query.search === undefined ? lookedAt.others : lookedAt.searched;
  const most = streams.every(({ column }) => column === null) ? inOrder : Math.min(inOrder, SCATTERED);
  return {
    sql,
    values: {
      ...values,
      before,
      rows: limit + 1,
      lookedAt: Math.max(lookedAt.least, limit + 1, Math.floor(most / parts)),
    },
  };
}

/**
 * Goes down one index. The bounds are compared as rows, and not as a column that equals the key: the planner would think of
 * going down the numbers of the whole log instead, since it does not know that the key is a rare one.
 */
function streamSql(
  { column, where }: Stream,
  { from, to }: AuditQuery,
  predicates: readonly string[],
): string {
  // The numbers between which the times lie, so that old times are found as fast as new ones.
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
      SELECT *, (${predicates.join(' AND ') || 'true'}) AS hit, row_number() OVER (ORDER BY ${order}) = :lookedAt AS last
      FROM (
        SELECT * FROM audit_log WHERE ${bounds} AND ${where} AND seq IS NOT NULL ORDER BY ${order} LIMIT :lookedAt
      ) looked
    ) judged WHERE hit OR last ORDER BY ${order} LIMIT :rows`;
}

/** What an event has to be, in whichever way it was come by. */
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
    teamIds !== null && SEEN,
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

const SEEN = `(team_id = ANY(:teamIds::text[])
  OR team_id IS NULL AND environment_id IN (SELECT id FROM environments WHERE team_id = ANY(:teamIds::text[]))
  OR team_id IS NULL AND environment_id IS NULL AND user_id = :viewerId)`;

const typesOf = (entityType: string): string[] => (entityType === SCIM_ALL ? SCIM_TYPES : [entityType]);

/** Some of the log, by an index on a column and the number. Each event is in one stream. */
interface Stream {
  /** Keys: what the column is. */
  over: string;
  /** Null for the whole log, by number. */
  column: string | null;
  where: string;
  /** About how many keys. */
  parts: number;
}

/** The narrowest index that a filter names, else those of whoever looks. */
function streamsOf({ teamIds }: AuditViewer, query: AuditQuery): Stream[] {
  const one = (column: string, key: string, where = 'true'): Stream[] => [
    { over: `(VALUES (${key}::text))`, column, where, parts: 1 },
  ];
  if (query.environmentId !== undefined) return one('environment_id', ':environmentId');
  if (query.userId !== undefined) return one('user_id', ':userId');
  if (query.teamId !== undefined) return ofTeams('ARRAY[:teamId]::text[]', 1);
  if (teamIds !== null)
    return [
      ...ofTeams(':teamIds::text[]', teamIds.length),
      ...one('user_id', ':viewerId', 'team_id IS NULL AND environment_id IS NULL'),
    ];
  if (query.action !== undefined) return one('action', ':action');
  if (query.entityType !== undefined)
    return [{ over: 'unnest(:entityTypes::text[])', column: 'entity_type', where: 'true', parts: 2 }];
  return [{ over: '(VALUES (1))', column: null, where: 'true', parts: 1 }];
}

/** What git does has no team, only an environment. */
const ofTeams = (ids: string, teams: number): Stream[] => [
  { over: `unnest(${ids})`, column: 'team_id', where: 'true', parts: teams },
  {
    over: `(SELECT id FROM environments WHERE team_id = ANY(${ids}))`,
    column: 'environment_id',
    where: 'team_id IS NULL',
    parts: 3 * teams,
  },
];
