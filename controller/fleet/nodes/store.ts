/** Reads and writes nodes and their enrollment tokens. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { FailedUpdate, MaintainedNode } from '../../../schemas/api/fleet/fleet.ts';
import { newId } from '../../platform/operation/ids.ts';
import { SAMPLE_REQUESTS, type SampleRequests } from '../config/sample-requests.ts';
import { PENDING_UPDATE, type PendingAgentUpdate } from '../updates/pending-update.ts';

export interface NodeIdentity {
  nodeId: string;
  environmentId: string;
  tokenId: string;
  tokenHash: Buffer;
  revoked: boolean;
  /** Archived for its silence; the next request of its agent unarchives it. */
  archived: boolean;
  maintenance: boolean;
  uiLabels: LabelMap;
  agentLabels: LabelMap;
  /** The node's part of its config revision; the other part is that of the environment. */
  revision: number;
  /** The node has delivered log lines by /api/agent/logs. The lines in its heartbeats are the same ones. */
  deliversLogs: boolean;
  /** The pending update of its agent; usually null. */
  update: PendingAgentUpdate | null;
  /** Usually empty. */
  sampleRequests: SampleRequests;
}

const IDENTITY = `SELECT n.id AS "nodeId", n.environment_id AS "environmentId", n.token_id AS "tokenId",
    n.token_hash AS "tokenHash", n.token_revoked_at IS NOT NULL AS revoked, n.archived_at IS NOT NULL AS archived, n.maintenance, n.ui_labels AS "uiLabels",
    coalesce(r.agent_labels, '{}') AS "agentLabels", n.config_revision AS revision,
    coalesce(r.delivers_logs, false) AS "deliversLogs", ${PENDING_UPDATE} AS update,
    ${SAMPLE_REQUESTS} AS "sampleRequests"
  FROM nodes n LEFT JOIN node_reports r ON r.node_id = n.id WHERE n.token_id IS NOT NULL`;

/** Finds the nodes that have one of the ids or tokens. */
export async function findIdentities(
  db: Knex,
  wanted: { nodeIds: readonly string[]; tokenIds: readonly string[] },
): Promise<NodeIdentity[]> {
  const { rows } = await db.raw<{ rows: NodeIdentity[] }>(
    `${IDENTITY} AND (n.id = ANY(?::text[]) OR n.token_id = ANY(?::text[]))`,
    [[...wanted.nodeIds], [...wanted.tokenIds]],
  );
  return rows;
}

/** Reads all nodes at once: after a start, every node polls within the same seconds. */
export async function listIdentities(db: Knex): Promise<NodeIdentity[]> {
  const { rows } = await db.raw<{ rows: NodeIdentity[] }>(IDENTITY);
  return rows;
}

/** The fields that show whether a cached node is out of date. */
export interface NodeState {
  nodeId: string;
  tokenId: string;
  revoked: boolean;
  archived: boolean;
  maintenance: boolean;
  revision: number;
}

/** One scan of the nodes without a join, which is cheap enough for every minute. */
export async function listStates(db: Knex): Promise<NodeState[]> {
  return db('nodes')
    .whereNotNull('token_id')
    .select({
      nodeId: 'id',
      tokenId: 'token_id',
      revoked: db.raw('token_revoked_at IS NOT NULL'),
      archived: db.raw('archived_at IS NOT NULL'),
      maintenance: 'maintenance',
      revision: 'config_revision',
    });
}

export interface EnrollmentToken {
  id: string;
  environmentId: string;
  environmentName: string;
  teamId: string;
  tokenHash: Buffer;
  maxUses: number | null;
  uses: number;
  expiresAt: Date | null;
  revokedAt: Date | null;
  maxNodes: number | null;
}

/** Locks the token, so that two nodes do not share its last use. */
export async function lockEnrollmentToken(tx: Knex, id: string): Promise<EnrollmentToken | null> {
  const row = await tx('enrollment_tokens as t')
    .join('environments as e', 'e.id', 't.environment_id')
    .where('t.id', id)
    .forUpdate('t')
    .first({
      id: 't.id',
      environmentId: 't.environment_id',
      environmentName: 'e.name',
      teamId: 'e.team_id',
      tokenHash: 't.token_hash',
      maxUses: 't.max_uses',
      uses: 't.uses',
      expiresAt: 't.expires_at',
      revokedAt: 't.revoked_at',
      maxNodes: 'e.max_nodes',
    });
  return row ?? null;
}

export async function countUse(tx: Knex, tokenId: string): Promise<void> {
  await tx('enrollment_tokens').where({ id: tokenId }).increment('uses', 1);
}

/** Counts the nodes against the environment's limit: archived ones do not count. */
export async function countNodes(db: Knex, environmentId: string): Promise<number> {
  const row = await db('nodes')
    .where({ environment_id: environmentId, archived_at: null })
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export interface NodeEnrollment {
  /** The id of the waiting node that it takes over. */
  waiting: string | null;
  environmentId: string;
  name: string;
  host: string;
  os: string;
  engineVersion: string | null;
  channel: string;
  tokenId: string;
  tokenHash: Buffer;
}

/** Finds the node that was created by hand for this host and has not enrolled; locked until the transaction ends. */
export async function lockWaitingNode(tx: Knex, environmentId: string, host: string): Promise<string | null> {
  const row: { id: string } | undefined = await tx('nodes')
    .where({ environment_id: environmentId, host })
    .whereNull('enrolled_at')
    .forUpdate()
    .first('id');
  return row?.id ?? null;
}

/** Returns the node's id: that of the waiting node, whose name and labels stay, or a new one. */
export async function enrollNode(tx: Knex, node: NodeEnrollment): Promise<string> {
  const columns = {
    os: node.os,
    enrolled_engine_version: node.engineVersion,
    channel: node.channel,
    token_id: node.tokenId,
    token_hash: node.tokenHash,
    token_revoked_at: null,
    enrolled_at: tx.fn.now(),
  };
  if (node.waiting !== null) {
    await tx('nodes').where({ id: node.waiting }).update(columns);
    return node.waiting;
  }
  const id = newId();
  await tx('nodes').insert({
    id,
    environment_id: node.environmentId,
    name: node.name,
    host: node.host,
    ...columns,
  });
  return id;
}

export interface FoundNode {
  id: string;
  environmentId: string;
  apiPort: number | null;
  update: PendingAgentUpdate | null;
  failedUpdates: FailedUpdate[];
}

export async function findNode(db: Knex, id: string): Promise<FoundNode | null> {
  const { rows } = await db.raw<{ rows: FoundNode[] }>(
    `SELECT n.id, n.environment_id AS "environmentId", n.api_port AS "apiPort", ${PENDING_UPDATE} AS update,
       n.failed_updates AS "failedUpdates"
     FROM nodes n WHERE n.id = ?`,
    [id],
  );
  const found = rows[0];
  return found
    ? {
        ...found,
        failedUpdates: found.failedUpdates.map((update) => ({ ...update, at: new Date(update.at) })),
      }
    : null;
}

/** Null if there is no such node. `changed` is false if the value was the same; then nothing is written. */
export async function writeMaintenance(
  tx: Knex,
  id: string,
  enabled: boolean,
): Promise<{ node: MaintainedNode; changed: boolean } | null> {
  const before: MaintainedNode | undefined = await tx('nodes')
    .where({ id })
    .forUpdate()
    .first({ id: 'id', environmentId: 'environment_id', name: 'name', maintenance: 'maintenance' });
  if (!before) return null;
  if (before.maintenance === enabled) return { node: before, changed: false };
  await tx('nodes')
    .where({ id })
    .update({ maintenance: enabled, config_revision: tx.raw('config_revision + 1') });
  return { node: { ...before, maintenance: enabled }, changed: true };
}

/** Ids of all pipelines that a node may still report, including those pruned within the last day. */
export async function listPipelineIds(db: Knex, environmentId: string): Promise<string[]> {
  return db('pipelines').where({ environment_id: environmentId }).pluck('id');
}

export async function readConfigRevision(
  db: Knex,
  environmentId: string,
): Promise<{ revision: number; secretBackend: string } | null> {
  const row = await db('environments')
    .where({ id: environmentId })
    .first({ revision: 'config_revision', secretBackend: 'secret_backend' });
  return row ?? null;
}
