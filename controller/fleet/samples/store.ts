/** Stores sample requests and the results from nodes. */
import type { Knex } from 'knex';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { EventField, SampleRequest } from '../../../schemas/agent/protocol.ts';
import { ACTIVE_ROLLOUT } from '../../delivery/rollouts/index.ts';
import type { DeployedPipeline } from './tap-targets.ts';

/** Null if there is no such pipeline. */
export async function findDeployed(db: Knex, pipelineId: string): Promise<DeployedPipeline | null> {
  const { rows } = await db.raw<{ rows: DeployedPipeline[] }>(
    `SELECT p.name, p.environment_id AS "environmentId", v.config_yaml AS "configYaml",
       coalesce((SELECT array_agg(g->>'componentKey') FROM jsonb_array_elements(v.graph_nodes) g), '{}') AS "graphKeys"
     FROM pipelines p LEFT JOIN rollouts r ON r.pipeline_id = p.id AND r.${ACTIVE_ROLLOUT}
     -- If nothing was deployed before, only canary nodes run it.
     LEFT JOIN pipeline_versions v ON v.id = coalesce(p.deployed_version_id, r.canary_version_id) AND NOT p.is_draft
     WHERE p.id = ? AND p.tombstoned_at IS NULL`,
    [pipelineId],
  );
  return rows[0] ?? null;
}

export interface NewRequest extends Required<SampleRequest> {
  environmentId: string;
  nodeId: string;
  userId: string | null;
  createdAt: Date;
}

export async function insertRequest(tx: Knex, request: NewRequest): Promise<void> {
  await tx('sample_requests').insert({
    id: request.requestId,
    environment_id: request.environmentId,
    pipeline_id: request.pipelineId,
    component_keys: request.componentKeys,
    sink_keys: request.sinkKeys,
    event_limit: request.limit,
    node_id: request.nodeId,
    assigned_at: request.createdAt,
    requested_by_id: request.userId,
    created_at: request.createdAt,
  });
}

/** The caller has locked the environment's row, so the count holds until the transaction ends. */
export async function countOpenRequests(
  tx: Knex,
  filter: { environmentId: string; userId: string | null; since: Date },
): Promise<{ inEnvironment: number; ofUser: number }> {
  const { rows } = await tx.raw<{ rows: { inEnvironment: number; ofUser: number }[] }>(
    `SELECT count(*) FILTER (WHERE environment_id = :environmentId) AS "inEnvironment",
       count(*) FILTER (WHERE requested_by_id = :userId) AS "ofUser"
     FROM sample_requests WHERE done_at IS NULL AND created_at > :since
       AND (environment_id = :environmentId OR requested_by_id = :userId)`,
    filter,
  );
  const { inEnvironment = 0, ofUser = 0 } = rows[0] ?? {};
  return { inEnvironment: Number(inEnvironment), ofUser: Number(ofUser) };
}

/** Increments the node's config revision: it is served other sample requests. */
export async function bumpNode(tx: Knex, nodeId: string): Promise<void> {
  await tx('nodes').where({ id: nodeId }).increment('config_revision', 1);
}

export interface RequestRecord {
  requestId: string;
  pipelineId: string;
  componentKeys: string[];
  limit: number;
  nodeId: string | null;
  nodeName: string | null;
  requestedAt: Date;
  doneAt: Date | null;
  /** Patterns of its environment; null for the default ones. */
  redactKeys: string[] | null;
}

export async function findRequest(db: Knex, id: string): Promise<RequestRecord | null> {
  const row = await db('sample_requests as s')
    .join('environments as e', 'e.id', 's.environment_id')
    .leftJoin('nodes as n', 'n.id', 's.node_id')
    .where('s.id', id)
    .first({
      requestId: 's.id',
      pipelineId: 's.pipeline_id',
      componentKeys: 's.component_keys',
      limit: 's.event_limit',
      nodeId: 's.node_id',
      nodeName: 'n.name',
      requestedAt: 's.created_at',
      doneAt: 's.done_at',
      redactKeys: 'e.redact_keys',
    });
  return row ?? null;
}

export interface ResultRecord {
  componentKey: string;
  events: unknown[];
  schema: EventField[];
  error: string | null;
  receivedAt: Date;
  /** The patterns that it was redacted by. */
  redactKeys: string[] | null;
}

export async function listResults(db: Knex, requestId: string): Promise<ResultRecord[]> {
  return db('sample_results').where({ request_id: requestId }).select({
    componentKey: 'component_key',
    events: 'events',
    schema: 'fields',
    error: 'error',
    receivedAt: 'received_at',
    redactKeys: 'redact_keys',
  });
}

/** The newest result with events among some components. */
export async function findNewestResult(
  db: Knex,
  { pipelineId, keys, since }: { pipelineId: string; keys: readonly string[]; since: Date },
): Promise<{ events: unknown[]; redactKeys: string[] | null } | null> {
  const row = await db('sample_results as r')
    .join('sample_requests as s', 's.id', 'r.request_id')
    .join('environments as e', 'e.id', 's.environment_id')
    .where('s.pipeline_id', pipelineId)
    .where('s.created_at', '>', since)
    .whereIn('r.component_key', [...keys])
    .whereRaw('json_array_length(r.events) > 0')
    .orderBy('r.received_at', 'desc')
    .first({ events: 'r.events', redactKeys: 'e.redact_keys' });
  return row ? { events: row.events as unknown[], redactKeys: row.redactKeys } : null;
}

/** Samples read per component: the newest ones are enough to derive the fields. */
const SAMPLES_PER_COMPONENT = 20;
const MAX_COMPONENTS = 200;

export interface SampledFields {
  componentKey: string;
  events: number;
  lists: EventField[][];
  sampledAt: Date;
  /** Patterns of its environment; null for the default ones. */
  redactKeys: string[] | null;
}

export async function listSampledFields(db: Knex, pipelineId: string, since: Date): Promise<SampledFields[]> {
  const { rows } = await db.raw<{ rows: SampledFields[] }>(
    `SELECT component_key AS "componentKey", sum(events) AS events, json_agg(fields ORDER BY received_at DESC) AS lists,
       max(received_at) AS "sampledAt", redact_keys AS "redactKeys"
     FROM (
       SELECT e.redact_keys, r.component_key, json_array_length(r.events) AS events, r.fields, r.received_at,
         row_number() OVER (PARTITION BY r.component_key ORDER BY r.received_at DESC) AS place
       FROM sample_requests s JOIN sample_results r ON r.request_id = s.id JOIN environments e ON e.id = s.environment_id
       WHERE s.pipeline_id = :pipelineId AND s.created_at > :since AND json_array_length(r.events) > 0
     ) newest
     WHERE place <= ${SAMPLES_PER_COMPONENT} GROUP BY component_key, redact_keys ORDER BY component_key LIMIT ${MAX_COMPONENTS}`,
    { pipelineId, since },
  );
  return rows.map((row) => ({ ...row, events: Number(row.events) }));
}

/** A request that may still be answered. */
export interface OpenRequest {
  requestId: string;
  environmentId: string;
  componentKeys: string[];
  limit: number;
  nodeId: string | null;
  redactKeys: string[] | null;
  answered: string[];
}

/** Locks the requests among `ids` that are open and were given to the node, now or before; ordered by id. */
export async function lockOpenRequests(
  tx: Knex,
  { nodeId, ids, since }: { nodeId: string; ids: readonly string[]; since: Date },
): Promise<OpenRequest[]> {
  const { rows } = await tx.raw<{ rows: Omit<OpenRequest, 'answered'>[] }>(
    `SELECT s.id AS "requestId", s.environment_id AS "environmentId", s.component_keys AS "componentKeys",
       s.event_limit AS "limit", s.node_id AS "nodeId", e.redact_keys AS "redactKeys"
     FROM sample_requests s JOIN environments e ON e.id = s.environment_id
     WHERE s.id = ANY(:ids) AND s.done_at IS NULL AND s.created_at > :since
       AND (s.node_id = :nodeId OR :nodeId = ANY(s.earlier_node_ids))
     ORDER BY s.id FOR UPDATE OF s`,
    { nodeId, ids: [...ids], since },
  );
  if (rows.length === 0) return [];
  // A second statement: the first one may have waited for the lock, and its snapshot lacks rows written meanwhile.
  const results: { id: string; key: string }[] = await tx('sample_results')
    .whereIn('request_id', ids)
    .select({ id: 'request_id', key: 'component_key' });
  return rows.map((row) => ({
    ...row,
    answered: results.filter(({ id }) => id === row.requestId).map(({ key }) => key),
  }));
}

export interface NewResult {
  requestId: string;
  componentKey: string;
  events: unknown[];
  fields: EventField[];
  error: string | null;
  redactKeys: string[] | null;
}

export async function insertResults(tx: Knex, results: readonly NewResult[], at: Date): Promise<void> {
  if (results.length === 0) return;
  await tx('sample_results').insert(
    results.map((result) => ({
      request_id: result.requestId,
      component_key: result.componentKey,
      events: JSON.stringify(result.events),
      fields: JSON.stringify(result.fields),
      error: result.error,
      redact_keys: result.redactKeys,
      received_at: at,
    })),
  );
}

export async function finishRequest(tx: Knex, id: string, at: Date): Promise<void> {
  await tx('sample_requests').where({ id }).update({ done_at: at });
}

/** Ends requests whose time to be answered is over. */
export async function endExpiredRequests(
  tx: Knex,
  now: Date,
): Promise<{ nodeId: string | null; environmentId: string }[]> {
  return tx('sample_requests')
    .whereNull('done_at')
    .where('created_at', '<=', new Date(now.getTime() - AGENT_LIMITS.sampleRequestMs))
    .update({ done_at: now })
    .returning(['node_id as nodeId', 'environment_id as environmentId']);
}

export async function deleteOldRequests(db: Knex, before: Date): Promise<void> {
  await db('sample_requests').where('created_at', '<', before).delete();
}

export interface Unanswered extends Required<SampleRequest> {
  environmentId: string;
  nodeId: string | null;
  earlierNodeIds: string[];
}

const MAX_UNANSWERED = 50;

/** Open requests that were neither reassigned nor answered since `since`, oldest first. */
export async function listUnanswered(db: Knex, since: Date): Promise<Unanswered[]> {
  return db('sample_requests')
    .whereNull('done_at')
    .where('assigned_at', '<=', since)
    .whereNotExists((results) =>
      results
        .from('sample_results')
        .whereRaw('request_id = sample_requests.id')
        .where('received_at', '>', since),
    )
    .orderBy('assigned_at')
    .limit(MAX_UNANSWERED)
    .select({
      requestId: 'id',
      pipelineId: 'pipeline_id',
      environmentId: 'environment_id',
      componentKeys: 'component_keys',
      sinkKeys: 'sink_keys',
      limit: 'event_limit',
      nodeId: 'node_id',
      earlierNodeIds: 'earlier_node_ids',
    });
}

/** Gives a request to another node. Returns false if it was answered or reassigned meanwhile. */
export async function reassign(tx: Knex, request: Unanswered, nodeId: string, at: Date): Promise<boolean> {
  const count = await tx('sample_requests')
    .where({ id: request.requestId })
    .whereRaw('node_id IS NOT DISTINCT FROM ?', [request.nodeId])
    .whereNull('done_at')
    .update({
      node_id: nodeId,
      assigned_at: at,
      earlier_node_ids: tx.raw('array_remove(earlier_node_ids || node_id, NULL)'),
    });
  return count > 0;
}
