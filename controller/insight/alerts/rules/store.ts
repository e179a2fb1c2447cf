import type { Knex } from 'knex';
import type { AlertRule } from '../../../../schemas/api/insight/alerts.ts';
import type { AlertRuleSpec } from '../../../../schemas/manifests/alert-rule.ts';
import { nameKeyOf } from '../../../../schemas/manifests/index.ts';
import { brokeUnique } from '../../../database/errors.ts';
import type { ColumnTypes } from '../../../delivery/ownership/index.ts';
import { datedOrigin } from '../../../fleet/status/index.ts';
import { conflict } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';

/** Column types for `writeOwned`. */
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

/** Ids of pipelines that are not deleted, by name key. */
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

const SELECT = `SELECT r.id, r.environment_id AS "environmentId", e.team_id AS "teamId", r.name, r.pipeline_id AS "pipelineId",
       p.name AS "pipelineName", r.metric, r.condition, r.threshold, r.duration_seconds AS "durationSeconds", r.enabled,
       r.labels, v.evaluation, r.managed_by AS "managedBy", r.created_at AS "createdAt", r.updated_at AS "updatedAt",
       CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object('path', m.path, 'line', m.line,
         'commit', m.applied_commit, 'conditions', m.conditions) END AS git
     FROM alert_rules r JOIN environments e ON e.id = r.environment_id
     LEFT JOIN pipelines p ON p.id = r.pipeline_id
     LEFT JOIN LATERAL (SELECT jsonb_build_object('evaluatedAt', v.evaluated_at, 'series', v.series,
       'withValue', v.with_value, 'pending', v.pending, 'firing', v.firing) AS evaluation
       FROM alert_rule_evaluations v WHERE v.rule_id = r.id AND r.enabled) v ON true
     LEFT JOIN git_manifests m ON m.object_id = r.id AND m.kind = 'AlertRule'
     WHERE r.tombstoned_at IS NULL`;

export async function listRules(db: Knex, environmentId: string): Promise<AlertRule[]> {
  const { rows } = await db.raw<{ rows: AlertRule[] }>(
    `${SELECT} AND r.environment_id = ? ORDER BY lower(r.name)`,
    [environmentId],
  );
  return rows.map(withDates);
}

export async function findRule(db: Knex, id: string): Promise<AlertRule | null> {
  const { rows } = await db.raw<{ rows: AlertRule[] }>(`${SELECT} AND r.id = ?`, [id]);
  return rows[0] ? withDates(rows[0]) : null;
}

const withDates = (rule: AlertRule): AlertRule => ({
  ...rule,
  git: datedOrigin(rule.git),
  evaluation: rule.evaluation && { ...rule.evaluation, evaluatedAt: new Date(rule.evaluation.evaluatedAt) },
});

export async function countRules(db: Knex, environmentId: string): Promise<number> {
  const row = await db('alert_rules')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export async function hasPipeline(db: Knex, environmentId: string, pipelineId: string): Promise<boolean> {
  const of = { id: pipelineId, environment_id: environmentId, tombstoned_at: null };
  return (await db('pipelines').where(of).first('id')) !== undefined;
}

/** Locks the pipeline until the transaction ends; false where the environment does not have it. */
export async function lockPipeline(tx: Knex, environmentId: string, pipelineId: string): Promise<boolean> {
  const row = await tx('pipelines')
    .where({ id: pipelineId, environment_id: environmentId, tombstoned_at: null })
    .forShare()
    .first('id');
  return row !== undefined;
}

/** Inserts a rule that the UI owns. */
export async function insertRule(
  tx: Knex,
  environmentId: string,
  rule: { name: string; pipelineId: string | null } & Omit<AlertRuleSpec, 'pipelineRef'>,
): Promise<string> {
  const id = newId();
  await tx('alert_rules')
    .insert({ id, environment_id: environmentId, name: rule.name, ...ruleColumns(rule, rule.pipelineId) })
    .catch((error: unknown) => {
      throw toConflict(error, rule.name);
    });
  return id;
}

export async function updateRule(
  tx: Knex,
  id: string,
  rule: Pick<AlertRule, 'name' | 'enabled' | 'threshold' | 'durationSeconds'>,
): Promise<void> {
  await tx('alert_rules')
    .where({ id })
    .update({
      name: rule.name,
      enabled: rule.enabled,
      threshold: rule.threshold,
      duration_seconds: rule.durationSeconds,
      updated_at: tx.fn.now(),
    })
    .catch((error: unknown) => {
      throw toConflict(error, rule.name);
    });
}

export async function deleteRule(tx: Knex, id: string): Promise<void> {
  await tx('alert_rules').where({ id }).delete();
}

function toConflict(error: unknown, name: string): unknown {
  return brokeUnique(error, 'alert_rules_name_unique')
    ? conflict(`An alert rule named "${name}" exists already in this environment; choose another name`)
    : error;
}
