/** Queries of the drift view, beside the inventory and the status of nodes. */
import type { Knex } from 'knex';

export interface RunningChecksum {
  nodeId: string;
  pipelineId: string;
  version: number;
  status: string;
  checksum: string | null;
  heardAt: Date | null;
}

/** The last report of each node that is not archived, for each pipeline of the environment. */
export async function listRunningChecksums(db: Knex, environmentId: string): Promise<RunningChecksum[]> {
  return db('node_pipelines as np')
    .join('nodes as n', 'n.id', 'np.node_id')
    .leftJoin('node_presence as h', 'h.node_id', 'n.id')
    .where({ 'n.environment_id': environmentId, 'n.archived_at': null })
    .select({
      nodeId: 'np.node_id',
      pipelineId: 'np.pipeline_id',
      version: 'np.version',
      status: 'np.status',
      checksum: 'np.config_checksum',
      heardAt: 'h.heard_at',
    });
}

export interface AppliedVersion {
  pipelineId: string;
  version: number;
  at: Date;
}

/** For each pipeline of the binding, the version with the spec that git applied last. */
export async function listAppliedVersions(db: Knex, bindingId: string): Promise<AppliedVersion[]> {
  const { rows } = await db.raw<{ rows: AppliedVersion[] }>(
    `SELECT DISTINCT ON (v.pipeline_id) v.pipeline_id AS "pipelineId", v.version, v.created_at AS at
     FROM git_manifests m JOIN pipeline_versions v ON v.pipeline_id = m.object_id AND v.spec_hash = m.applied_hash
     WHERE m.binding_id = ? AND m.kind = 'Pipeline' ORDER BY v.pipeline_id, v.version DESC`,
    [bindingId],
  );
  return rows;
}
