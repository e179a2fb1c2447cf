/** Stores which nodes are served a previous version, and why. */
import type { Knex } from 'knex';
import { ACTIVE_ROLLOUT, AUTO_REVERTS } from '../../../delivery/rollouts/index.ts';
import type { DeployedConfig } from '../../../pipelines/index.ts';
import type { FailingVersion } from '../../heartbeats/store.ts';

export interface Revertible extends FailingVersion {
  environmentId: string;
  teamId: string;
  nodeName: string;
  pipelineName: string;
  refusedVersionId: string;
  refusedVersion: number;
  servedVersionId: string;
  servedVersion: number;
}

/** Long enough for an engine's error message. */
const REASON_CHARS = 2_000;

/**
 * Finds failing versions that are currently deployed and whose previous version still exists. Skips environments where
 * automatic reverts are switched off.
 */
export async function findRevertible(db: Knex, failing: readonly FailingVersion[]): Promise<Revertible[]> {
  const { rows } = await db.raw<{ rows: Revertible[] }>(
    `SELECT c."nodeId", c."pipelineId", c.by, c.failed, c.checksum, c.reason, c.ran, p.environment_id AS "environmentId",
       e.team_id AS "teamId", n.name AS "nodeName", p.name AS "pipelineName", bad.id AS "refusedVersionId",
       bad.version AS "refusedVersion", good.id AS "servedVersionId", good.version AS "servedVersion"
     FROM jsonb_to_recordset(?::jsonb) AS c("nodeId" text, "pipelineId" text, by text, failed integer, checksum text,
       reason text, ran integer)
     JOIN nodes n ON n.id = c."nodeId" JOIN pipelines p ON p.id = c."pipelineId" AND NOT p.is_draft
     JOIN environments e ON e.id = p.environment_id
     JOIN pipeline_versions bad ON bad.pipeline_id = p.id AND bad.version = c.failed
     JOIN pipeline_versions good ON good.pipeline_id = p.id AND good.version = c.ran
     LEFT JOIN rollouts r ON r.pipeline_id = p.id AND r.${ACTIVE_ROLLOUT}
     LEFT JOIN node_reverts v ON v.node_id = n.id AND v.pipeline_id = p.id
     WHERE ${AUTO_REVERTS} AND bad.id <> good.id AND (bad.id = p.deployed_version_id OR bad.id = r.canary_version_id)
       AND v.refused_version_id IS DISTINCT FROM bad.id
     ORDER BY c."nodeId", c."pipelineId"`,
    [JSON.stringify(failing)],
  );
  return rows.map((row) => ({ ...row, reason: row.reason.slice(0, REASON_CHARS).toWellFormed() }));
}

/**
 * Returns the rows that this call wrote; another controller may have written the rest. Increments the config revision of each
 * node, so that it fetches its config.
 */
export async function insertReverts<R extends Revertible & { refusedChecksum: string }>(
  tx: Knex,
  reverts: readonly R[],
  since: Date,
): Promise<R[]> {
  const written: R[] = [];
  for (const revert of reverts) {
    const { rowCount } = await tx.raw<{ rowCount: number }>(
      `INSERT INTO node_reverts AS v (node_id, pipeline_id, refused_version_id, refused_checksum, served_version_id,
         refused_by, reason, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (node_id, pipeline_id) DO UPDATE SET refused_version_id = excluded.refused_version_id,
         refused_checksum = excluded.refused_checksum, served_version_id = excluded.served_version_id,
         refused_by = excluded.refused_by, reason = excluded.reason, since = excluded.since, fault = NULL
       WHERE v.refused_version_id <> excluded.refused_version_id`,
      [
        ...[
          revert.nodeId,
          revert.pipelineId,
          revert.refusedVersionId,
          revert.refusedChecksum,
          revert.servedVersionId,
        ],
        ...[revert.by, revert.reason, since],
      ],
    );
    if (rowCount > 0) written.push(revert);
  }
  await bumpNodeRevisions(
    tx,
    written.map(({ nodeId }) => nodeId),
  );
  return written;
}

const bumpNodeRevisions = (tx: Knex, nodeIds: readonly string[]) =>
  tx.raw('UPDATE nodes SET config_revision = config_revision + 1 WHERE id = ANY(?)', [[...new Set(nodeIds)]]);

export interface RevertRow {
  nodeId: string;
  pipelineId: string;
  refusedVersionId: string;
  refusedChecksum: string;
  servedVersionId: string;
  fault: string | null;
}

export async function listReverts(db: Knex, environmentId: string): Promise<RevertRow[]> {
  const { rows } = await db.raw<{ rows: RevertRow[] }>(
    `SELECT v.node_id AS "nodeId", v.pipeline_id AS "pipelineId", v.refused_version_id AS "refusedVersionId",
       v.refused_checksum AS "refusedChecksum", v.served_version_id AS "servedVersionId", v.fault
     FROM node_reverts v JOIN pipelines p ON p.id = v.pipeline_id JOIN environments e ON e.id = p.environment_id
     WHERE p.environment_id = ? AND ${AUTO_REVERTS}`,
    [environmentId],
  );
  return rows;
}

/** Reads the versions that nodes were reverted to, in the same form as deployed versions. */
export async function listServedBefore(db: Knex, versionIds: readonly string[]): Promise<DeployedConfig[]> {
  if (versionIds.length === 0) return [];
  const { rows } = await db.raw<{ rows: DeployedConfig[] }>(
    `SELECT p.id AS "pipelineId", p.name AS "pipelineName", v.id AS "versionId", v.version,
       v.config_yaml AS "configYaml", v.log_level AS "logLevel", v.node_selector AS "nodeSelector",
       v.drain_seconds AS "drainSeconds", NULL AS "canarySelector", false AS "isCanary"
     FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id WHERE v.id = ANY(?)`,
    [[...versionIds]],
  );
  return rows;
}

/** Changes to the stored reverts that a rendering found. */
export interface RevertChanges {
  /** The node no longer gets the refused rendering. */
  ended: RevertRow[];
  /** A newer version renders to exactly the text that was refused. */
  carried: { row: RevertRow; refusedVersionId: string }[];
  faults: { row: RevertRow; fault: string | null }[];
}

/** Writes each change only if its row is unchanged since it was read. */
export async function writeRevertChanges(db: Knex, { ended, carried, faults }: RevertChanges): Promise<void> {
  const matchRow = ({ nodeId, pipelineId, refusedVersionId, refusedChecksum }: RevertRow) => ({
    node_id: nodeId,
    pipeline_id: pipelineId,
    refused_version_id: refusedVersionId,
    refused_checksum: refusedChecksum,
  });
  for (const row of ended) await db('node_reverts').where(matchRow(row)).delete();
  for (const { row, refusedVersionId } of carried)
    await db('node_reverts').where(matchRow(row)).update({ refused_version_id: refusedVersionId });
  for (const { row, fault } of faults) await db('node_reverts').where(matchRow(row)).update({ fault });
}
