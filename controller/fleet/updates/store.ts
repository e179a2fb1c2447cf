/** Stores pending updates of agents, and those that failed. */
import type { Knex } from 'knex';
import type { FailedUpdate } from '../../../schemas/api/fleet/fleet.ts';
import { PENDING_UPDATE, type PendingAgentUpdate } from './pending-update.ts';

/** Failed updates retained per node, newest first. */
const MAX_FAILED = 10;

const NO_UPDATE = {
  pending_action: null,
  pending_action_at: null,
  pending_action_tries: 0,
  pending_action_tried_at: null,
  pending_action_error_before: null,
};

export interface UpdatableNode {
  id: string;
  environmentId: string;
  teamId: string;
  name: string;
  channel: 'stable' | 'dev';
  enrolledAt: Date | null;
  revoked: boolean;
  update: PendingAgentUpdate | null;
  failedUpdates: FailedUpdate[];
}

/** Locks the node until the transaction ends; null if there is none. */
export async function lockUpdatable(tx: Knex, id: string): Promise<UpdatableNode | null> {
  const { rows } = await tx.raw<{ rows: UpdatableNode[] }>(
    `SELECT n.id, n.environment_id AS "environmentId", e.team_id AS "teamId", n.name, n.channel,
       n.enrolled_at AS "enrolledAt", n.token_revoked_at IS NOT NULL AS revoked, ${PENDING_UPDATE} AS update,
       n.failed_updates AS "failedUpdates"
     FROM nodes n JOIN environments e ON e.id = n.environment_id WHERE n.id = ? FOR UPDATE OF n`,
    [id],
  );
  return rows[0] ?? null;
}

/** Replaces a pending update. */
export async function writeUpdate(tx: Knex, nodeId: string, update: PendingAgentUpdate): Promise<void> {
  await tx('nodes')
    .where({ id: nodeId })
    .update({
      ...NO_UPDATE,
      pending_action: JSON.stringify(update.action),
      pending_action_at: new Date(update.requestedAt),
      pending_action_error_before: update.errorBefore,
      config_revision: tx.raw('config_revision + 1'),
    });
}

/** Clears the pending update. A `failed` one is recorded, so that it is not offered to the node again. */
export async function endUpdate(
  tx: Knex,
  node: Pick<UpdatableNode, 'id' | 'failedUpdates'>,
  failed: FailedUpdate | null,
): Promise<void> {
  const others = node.failedUpdates.filter(
    (update) => update.targetVersion !== failed?.targetVersion || update.checksum !== failed.checksum,
  );
  await tx('nodes')
    .where({ id: node.id })
    .update({
      ...NO_UPDATE,
      ...(failed ? { failed_updates: JSON.stringify([failed, ...others].slice(0, MAX_FAILED)) } : {}),
      config_revision: tx.raw('config_revision + 1'),
    });
}

/** Returns false if another controller has counted this try, or the update has ended. */
export async function countTry(
  db: Knex,
  nodeId: string,
  update: PendingAgentUpdate,
  at: Date,
): Promise<boolean> {
  const changed: number = await db('nodes')
    .where({
      id: nodeId,
      pending_action_at: new Date(update.requestedAt),
      pending_action_tries: update.tries,
    })
    .whereNotNull('pending_action')
    .update({ pending_action_tries: update.tries + 1, pending_action_tried_at: at });
  return changed > 0;
}

export interface UpdateWithReport {
  nodeId: string;
  update: PendingAgentUpdate;
  agentVersion: string | null;
}

/** All pending updates, with the version that the node reported last. */
export async function listPendingUpdates(db: Knex): Promise<UpdateWithReport[]> {
  const { rows } = await db.raw<{ rows: UpdateWithReport[] }>(
    `SELECT n.id AS "nodeId", ${PENDING_UPDATE} AS update, r.agent_version AS "agentVersion"
     FROM nodes n LEFT JOIN node_reports r ON r.node_id = n.id
     WHERE n.pending_action IS NOT NULL ORDER BY n.pending_action_at, n.id`,
  );
  return rows;
}
