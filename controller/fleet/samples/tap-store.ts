/** Live taps, and their events on the way from one controller to another. */
import type { Knex } from 'knex';
import { ACTIVE_ROLLOUT } from '../../delivery/rollouts/index.ts';

export interface TapRecord {
  tapId: string;
  environmentId: string;
  teamId: string;
  pipelineId: string;
  componentKey: string;
  nodeId: string;
  userId: string;
  endsAt: Date;
  /** The controller that somebody watches it at; null while nobody does. */
  watchedBy: string | null;
  /** Of its environment; null for the usual ones. */
  redactKeys: string[] | null;
}

export async function insertTap(
  tx: Knex,
  tap: Omit<TapRecord, 'teamId' | 'watchedBy' | 'redactKeys'> & { isSink: boolean; createdAt: Date },
): Promise<void> {
  await tx('taps').insert({
    id: tap.tapId,
    environment_id: tap.environmentId,
    pipeline_id: tap.pipelineId,
    component_key: tap.componentKey,
    is_sink: tap.isSink,
    node_id: tap.nodeId,
    user_id: tap.userId,
    created_at: tap.createdAt,
    ends_at: tap.endsAt,
    watched_at: tap.createdAt,
  });
}

/** The environment's and the user's rows are locked, so that the count holds until the end of the transaction. */
export async function countTaps(
  tx: Knex,
  of: { environmentId: string; userId: string; now: Date },
): Promise<{ inEnvironment: number; ofUser: number }> {
  const { rows } = await tx.raw<{ rows: { inEnvironment: number; ofUser: number }[] }>(
    `SELECT count(*) FILTER (WHERE environment_id = :environmentId) AS "inEnvironment",
       count(*) FILTER (WHERE user_id = :userId) AS "ofUser"
     FROM taps WHERE ends_at > :now AND (environment_id = :environmentId OR user_id = :userId)`,
    of,
  );
  const { inEnvironment = 0, ofUser = 0 } = rows[0] ?? {};
  return { inEnvironment: Number(inEnvironment), ofUser: Number(ofUser) };
}

/** Until the transaction ends, whoever else counts what the user has open waits. */
export async function lockUser(tx: Knex, id: string): Promise<void> {
  await tx('users').where({ id }).forNoKeyUpdate().first('id');
}

export async function findTap(db: Knex, id: string): Promise<TapRecord | null> {
  const { rows } = await db.raw<{ rows: TapRecord[] }>(
    `SELECT t.id AS "tapId", t.environment_id AS "environmentId", e.team_id AS "teamId", t.pipeline_id AS "pipelineId",
       t.component_key AS "componentKey", t.node_id AS "nodeId", t.user_id AS "userId", t.ends_at AS "endsAt",
       t.watched_by AS "watchedBy", e.redact_keys AS "redactKeys"
     FROM taps t JOIN environments e ON e.id = t.environment_id WHERE t.id = ?`,
    [id],
  );
  return rows[0] ?? null;
}

/** Of all nodes: there are few. */
export async function listOpenTaps(
  db: Knex,
  now: Date,
): Promise<(Pick<TapRecord, 'tapId' | 'nodeId' | 'pipelineId' | 'componentKey'> & { isSink: boolean })[]> {
  return db('taps').where('ends_at', '>', now).select({
    tapId: 'id',
    nodeId: 'node_id',
    pipelineId: 'pipeline_id',
    componentKey: 'component_key',
    isSink: 'is_sink',
  });
}

/** Somebody watches it at a controller from now on. False where it has ended. */
export async function watchTap(db: Knex, id: string, watchedBy: string, now: Date): Promise<boolean> {
  const count = await db('taps')
    .where({ id })
    .where('ends_at', '>', now)
    .update({ watched_by: watchedBy, watched_at: now });
  return count > 0;
}

/** Who watches it at this controller is still there. False where it has ended or is watched elsewhere. */
export async function keepWatching(db: Knex, id: string, watchedBy: string, now: Date): Promise<boolean> {
  const count = await db('taps').where({ id, watched_by: watchedBy }).update({ watched_at: now });
  return count > 0;
}

/** Nobody watches it at this controller any longer. */
export async function unwatchTap(db: Knex, id: string, watchedBy: string, now: Date): Promise<boolean> {
  const count = await db('taps')
    .where({ id, watched_by: watchedBy })
    .update({ watched_by: null, watched_at: now });
  return count > 0;
}

/** The node that it was on; null where it has ended already. */
export async function deleteTap(tx: Knex, id: string): Promise<{ nodeId: string } | null> {
  const [row]: { nodeId: string }[] = await tx('taps')
    .where({ id })
    .delete()
    .returning(['node_id as nodeId']);
  return row ?? null;
}

export interface Batch {
  events: unknown[];
  dropped: number;
}

/** Of one tap, on their way at a time: a controller that does not fetch them must not fill the database. */
const WAITING_BATCHES = 50;

/** False where too many wait already. */
export async function insertBatch(tx: Knex, tapId: string, body: Batch): Promise<boolean> {
  const { rows } = await tx.raw<{ rows: unknown[] }>(
    `INSERT INTO tap_batches (tap_id, body) SELECT :tapId, :body::json
     WHERE (SELECT count(*) FROM tap_batches WHERE tap_id = :tapId) < ${WAITING_BATCHES} RETURNING id`,
    { tapId, body: JSON.stringify(body) },
  );
  return rows.length > 0;
}

/** Everything that waits, oldest first; nobody else gets it. */
export async function takeBatches(db: Knex, tapId: string): Promise<Batch[]> {
  const rows: { id: number; body: Batch }[] = await db('tap_batches')
    .where({ tap_id: tapId })
    .delete()
    .returning(['id', 'body']);
  return rows.sort((a, b) => Number(a.id) - Number(b.id)).map(({ body }) => body);
}

export async function deleteOldBatches(db: Knex, before: Date): Promise<void> {
  await db('tap_batches').where('created_at', '<', before).delete();
}

export const TIME_IS_OVER = 'Its five minutes are over; start it again to see more';

/** What is seldom so: taps that have no reason to go on, with the reason. */
export async function listOverTaps(
  db: Knex,
  times: { now: Date; unwatchedSince: Date; lostSince: Date; silentSince: Date },
): Promise<{ tapId: string; reason: string }[]> {
  const { rows } = await db.raw<{ rows: { tapId: string; reason: string }[] }>(
    `SELECT * FROM (
       SELECT t.id AS "tapId", CASE
         WHEN t.ends_at <= :now THEN '${TIME_IS_OVER}'
         WHEN t.watched_by IS NULL AND t.watched_at <= :unwatchedSince THEN 'Nobody watched it'
         WHEN t.watched_at <= :lostSince THEN 'Nobody watched it'
         WHEN p.tombstoned_at IS NOT NULL THEN 'The pipeline was deleted'
         WHEN p.is_draft OR coalesce(p.deployed_version_id, ro.canary_version_id) IS NULL THEN 'The pipeline was undeployed'
         WHEN n.token_revoked_at IS NOT NULL THEN 'The node was revoked'
         WHEN n.maintenance THEN 'The node went into maintenance'
         WHEN greatest(r.reported_at, t.created_at) <= :silentSince::timestamptz - 3 * coalesce(r.poll_interval_ms, 0) * interval '1 ms'
           THEN 'The node was not heard of any more'
       END AS reason
       FROM taps t JOIN pipelines p ON p.id = t.pipeline_id JOIN nodes n ON n.id = t.node_id
       LEFT JOIN rollouts ro ON ro.pipeline_id = p.id AND ro.${ACTIVE_ROLLOUT}
       LEFT JOIN node_reports r ON r.node_id = n.id
     ) judged WHERE reason IS NOT NULL`,
    times,
  );
  return rows;
}
