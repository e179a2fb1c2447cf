/** Changes that users make to nodes: create by hand, rename, label, revoke, delete. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

export interface LockedNode {
  id: string;
  environmentId: string;
  name: string;
  host: string;
  channel: 'stable' | 'dev';
  uiLabels: LabelMap;
  /** Null for a node that waits for its host. */
  enrolledAt: Date | null;
  revokedAt: Date | null;
}

/** Locks the node until the transaction ends; null if there is none. */
export async function lockNode(tx: Knex, id: string): Promise<LockedNode | null> {
  const row = await tx('nodes').where({ id }).forUpdate().first({
    id: 'id',
    environmentId: 'environment_id',
    name: 'name',
    host: 'host',
    channel: 'channel',
    uiLabels: 'ui_labels',
    enrolledAt: 'enrolled_at',
    revokedAt: 'token_revoked_at',
  });
  return (row as LockedNode | undefined) ?? null;
}

/** The node limit of the environment, null if unlimited. Blocks enrollments in it until the transaction ends. */
export async function lockNodeLimit(tx: Knex, environmentId: string): Promise<number | null> {
  const row: { limit: number | null } | undefined = await tx('environments')
    .where({ id: environmentId })
    .forNoKeyUpdate()
    .first({ limit: 'max_nodes' });
  if (typeof row?.limit === 'number')
    await tx('enrollment_tokens')
      .where({ environment_id: environmentId })
      .orderBy('id')
      .forUpdate()
      .select('id');
  return row?.limit ?? null;
}

/** @throws CONFLICT if another node waits for that host. */
export async function insertWaitingNode(
  tx: Knex,
  node: { environmentId: string; name: string; host: string; apiPort: number | null },
): Promise<string> {
  const id = newId();
  await tx('nodes')
    .insert({
      id,
      environment_id: node.environmentId,
      name: node.name,
      host: node.host,
      api_port: node.apiPort,
    })
    .catch((error: unknown) => {
      throw brokeUnique(error, 'nodes_waiting_unique')
        ? conflict(
            `A node is already waiting for the host "${node.host}"; start its agent, or delete that node first`,
          )
        : error;
    });
  return id;
}

/** New labels increment the config revision, since they change what the node is served. */
export async function writeNode(
  tx: Knex,
  id: string,
  change: { name: string; labels: LabelMap | null },
): Promise<void> {
  await tx('nodes')
    .where({ id })
    .update({
      name: change.name,
      ...(change.labels
        ? { ui_labels: JSON.stringify(change.labels), config_revision: tx.raw('config_revision + 1') }
        : {}),
    });
}

/** Also clears a pending update: the agent can no longer report its outcome. */
export async function revokeToken(tx: Knex, id: string, at: Date): Promise<void> {
  await tx('nodes').where({ id }).update({
    token_revoked_at: at,
    pending_action: null,
    pending_action_at: null,
    pending_action_tries: 0,
    pending_action_tried_at: null,
    pending_action_error_before: null,
  });
}

/** Deletes the node and its reports. Its log lines are dropped with their day partition. */
export async function deleteNode(tx: Knex, id: string): Promise<void> {
  await tx('node_pipelines').where({ node_id: id }).delete();
  await tx('nodes').where({ id }).delete();
}
