/** Deletes old versions that nothing refers to. */
import type { Knex } from 'knex';

/** Ids of the pipelines with more than `keep` versions. */
export async function listPipelinesWithMoreVersions(db: Knex, keep: number): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT pipeline_id AS id FROM pipeline_versions GROUP BY pipeline_id HAVING count(*) > ? ORDER BY pipeline_id`,
    [keep],
  );
  return rows.map(({ id }) => id);
}

export interface VersionRetention {
  /** The number of newest versions that stay. */
  keep: number;
  /** Versions deployed since then stay. */
  deployedSince: Date;
}

/**
 * Deletes the oldest versions of one pipeline that nothing refers to: no node reports it or could be reverted to it, no
 * recorded rollout or promotion names it, and no manifest or hold in git matches it. Locks the pipeline's row against
 * concurrent deploys and rollbacks. Returns the number of deleted versions.
 */
export async function deleteOldVersions(
  tx: Knex,
  pipelineId: string,
  { keep, deployedSince }: VersionRetention,
  limit: number,
): Promise<number> {
  const pipeline = await tx('pipelines').where({ id: pipelineId }).forNoKeyUpdate().first('id');
  if (!pipeline) return 0;
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM pipeline_versions WHERE id IN (
       SELECT v.id FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id
       WHERE v.pipeline_id = :pipelineId
         AND v.version <= (SELECT version FROM pipeline_versions WHERE pipeline_id = :pipelineId
           ORDER BY version DESC OFFSET :keep LIMIT 1)
         AND v.id IS DISTINCT FROM p.latest_version_id AND v.id IS DISTINCT FROM p.deployed_version_id
         AND (v.deployed_until IS NULL OR v.deployed_until < :deployedSince)
         AND NOT EXISTS (SELECT 1 FROM node_pipelines s WHERE s.pipeline_id = :pipelineId AND s.version = v.version)
         -- Nor the version that a node would be reverted to.
         AND NOT EXISTS (SELECT 1 FROM node_pipelines s WHERE s.pipeline_id = :pipelineId AND s.ran_version = v.version)
         AND NOT EXISTS (SELECT 1 FROM node_reverts n
           WHERE n.pipeline_id = :pipelineId AND v.id IN (n.served_version_id, n.refused_version_id))
         AND NOT EXISTS (SELECT 1 FROM rollouts r
           WHERE r.pipeline_id = :pipelineId AND v.id IN (r.canary_version_id, r.previous_version_id))
         AND NOT EXISTS (SELECT 1 FROM promotions o WHERE o.pipeline_id = :pipelineId AND o.source_version = v.version)
         AND NOT EXISTS (SELECT 1 FROM promotions o
           WHERE o.target_pipeline_id = :pipelineId AND o.target_version = v.version)
         AND NOT (${NAMED_IN_GIT} AND NOT EXISTS (SELECT 1 FROM pipeline_versions w
           WHERE w.pipeline_id = :pipelineId AND w.spec_hash = v.spec_hash AND w.version > v.version))
       ORDER BY v.version LIMIT :limit)`,
    { pipelineId, keep, deployedSince, limit },
  );
  return rowCount;
}

/** Whether a version matches what git applied last, contains now, or holds. Of several equal versions, the newest counts. */
const NAMED_IN_GIT = `(v.spec_hash IS NOT NULL AND EXISTS (SELECT 1 FROM git_manifests m
  WHERE m.object_id = :pipelineId AND (v.spec_hash IN (m.applied_hash, m.seen_hash) OR EXISTS (SELECT 1 FROM git_holds h
    WHERE h.binding_id = m.binding_id AND h.kind = m.kind AND h.name_key = m.name_key AND h.spec_hash = v.spec_hash
      AND h.released_at IS NULL))))`;
