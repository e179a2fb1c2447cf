/** Stores live taps, and their events in transit from one controller to another. */
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
  /** The controller with its viewer; null while nobody watches. */
  watchedBy: string | null;
  /** Patterns of its environment; null for the default ones. */
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

/** The caller has locked the rows of the environment and the user, so the count holds until the transaction ends. */
export async function countTaps(
  tx: Knex,
  filter: { environmentId: string; userId: string; now: Date },
): Promise<{ inEnvironment: number; ofUser: number }> {
  const { rows } = await tx.raw<{ rows: { inEnvironment: number; ofUser: number }[] }>(
    `SELECT count(*) FILTER (WHERE environment_id = :environmentId) AS "inEnvironment",
       count(*) FILTER (WHERE user_id = :userId) AS "ofUser"
     FROM taps WHERE ends_at > :now AND (environment_id = :environmentId OR user_id = :userId)`,
    filter,
  );
  const { inEnvironment = 0, ofUser = 0 } = rows[0] ?? {};
  return { inEnvironment: Number(inEnvironment), ofUser: Number(ofUser) };
}

/** Serializes transactions that count what the user has open. */
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

/** Open taps of all nodes; there are few. */
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

/** Records the controller that has the viewer. Returns false if the tap has ended. */
export async function watchTap(db: Knex, id: string, watchedBy: string, now: Date): Promise<boolean> {
  const count = await db('taps')
    .where({ id })
    .where('ends_at', '>', now)
    .update({ watched_by: watchedBy, watched_at: now });
  return count > 0;
}

/** Confirms the viewer at this controller. Returns false if the tap has ended or is watched elsewhere. */
export async function confirmWatching(db: Knex, id: string, watchedBy: string, now: Date): Promise<boolean> {
  const count = await db('taps').where({ id, watched_by: watchedBy }).update({ watched_at: now });
  return count > 0;
}

/** Records that the tap no longer has a viewer at this controller. */
export async function unwatchTap(db: Knex, id: string, watchedBy: string, now: Date): Promise<boolean> {
  const count = await db('taps')
    .where({ id, watched_by: watchedBy })
    .update({ watched_by: null, watched_at: now });
  return count > 0;
}

/** Returns the node of the deleted tap; null if it had already ended. */
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

/** Batches in transit per tap: a controller that does not fetch them must not fill the database. */
const MAX_WAITING_BATCHES = 50;

/** Returns false if too many batches are waiting. */
export async function insertBatch(tx: Knex, tapId: string, body: Batch): Promise<boolean> {
  const { rows } = await tx.raw<{ rows: unknown[] }>(
    `INSERT INTO tap_batches (tap_id, body) SELECT :tapId, :body::json
     WHERE (SELECT count(*) FROM tap_batches WHERE tap_id = :tapId) < ${MAX_WAITING_BATCHES} RETURNING id`,
    { tapId, body: JSON.stringify(body) },
  );
  return rows.length > 0;
}

/** Takes all waiting batches, oldest first; each batch is taken once. */
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

export const TIME_LIMIT_REACHED = 'Its five minutes are over; start it again to see more';

/** Taps that have to end, with the reason. */
export async function listEndedTaps(
  db: Knex,
  times: { now: Date; unwatchedSince: Date; lostSince: Date; silentSince: Date },
): Promise<{ tapId: string; reason: string }[]> {
  const { rows } = await db.raw<{ rows: { tapId: string; reason: string }[] }>(
    `SELECT * FROM (
       SELECT t.id AS "tapId", CASE
         WHEN t.ends_at <= :now THEN '${TIME_LIMIT_REACHED}'
         WHEN t.watched_by IS NULL AND t.watched_at <= :unwatchedSince THEN 'Nobody watched it'
         WHEN t.watched_at <= :lostSince THEN 'Nobody watched it'
         WHEN p.tombstoned_at IS NOT NULL THEN 'The pipeline was deleted'
         WHEN p.is_draft OR coalesce(p.deployed_version_id, ro.canary_version_id) IS NULL THEN 'The pipeline was undeployed'
         WHEN n.token_revoked_at IS NOT NULL THEN 'The node was revoked'
         WHEN n.maintenance THEN 'The node went into maintenance'
         WHEN greatest(h.heard_at, t.created_at) <= :silentSince::timestamptz - 3 * coalesce(r.poll_interval_ms, 0) * interval '1 ms'
           THEN 'The node stopped reporting'
       END AS reason
       FROM taps t JOIN pipelines p ON p.id = t.pipeline_id JOIN nodes n ON n.id = t.node_id
       LEFT JOIN rollouts ro ON ro.pipeline_id = p.id AND ro.${ACTIVE_ROLLOUT}
       LEFT JOIN node_reports r ON r.node_id = n.id LEFT JOIN node_presence h ON h.node_id = n.id
     ) checked WHERE reason IS NOT NULL`,
    times,
  );
  return rows;
}
