/** Alert rules. */
import type { Knex } from 'knex';
import type { AlertRule } from '../../schemas/api/alerts.ts';
import type { AlertRuleSpec } from '../../schemas/manifests/alert-rule.ts';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import type { ColumnTypes } from '../ownership/index.ts';

/** For `writeOwned`. */
export const RULE_COLUMNS: ColumnTypes = {
  pipeline_id: 'text',
  metric: 'text',
  condition: 'text',
  threshold: 'double precision',
  duration_seconds: 'integer',
  enabled: 'boolean',
};

export const ruleColumns = (spec: AlertRuleSpec, pipelineId: string | null) => ({
  pipeline_id: pipelineId,
  metric: spec.metric,
  condition: spec.condition,
  threshold: spec.threshold,
  duration_seconds: spec.durationSeconds,
  enabled: spec.enabled,
});

/** Ids of living pipelines by their folded names. */
export async function pipelineIdsByName(
  db: Knex,
  environmentId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.raw<{ rows: { id: string; name: string }[] }>(
    `SELECT id, name FROM pipelines WHERE environment_id = ? AND tombstoned_at IS NULL
       AND lower(name) IN (SELECT lower(n) FROM unnest(?::text[]) n)`,
    [environmentId, [...names]],
  );
  return new Map(rows.map(({ id, name }) => [nameKeyOf(name), id]));
}

type StoredRule = Omit<AlertRule, 'git'> & { git: AlertRule['git'] };

export async function listRules(db: Knex, environmentId: string): Promise<StoredRule[]> {
  const { rows } = await db.raw<{ rows: StoredRule[] }>(
    `SELECT r.id, r.environment_id AS "environmentId", e.team_id AS "teamId", r.name, r.pipeline_id AS "pipelineId",
       p.name AS "pipelineName", r.metric, r.condition, r.threshold, r.duration_seconds AS "durationSeconds", r.enabled,
       r.labels, r.managed_by AS "managedBy", r.created_at AS "createdAt", r.updated_at AS "updatedAt",
       CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object('path', m.path, 'line', m.line,
         'commit', m.applied_commit, 'conditions', m.conditions) END AS git
     FROM alert_rules r JOIN environments e ON e.id = r.environment_id
     LEFT JOIN pipelines p ON p.id = r.pipeline_id
     LEFT JOIN git_manifests m ON m.object_id = r.id AND m.kind = 'AlertRule'
     WHERE r.environment_id = ? AND r.tombstoned_at IS NULL ORDER BY lower(r.name)`,
    [environmentId],
  );
  return rows;
}
