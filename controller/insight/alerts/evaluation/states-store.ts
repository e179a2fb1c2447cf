/** What evaluations read and write beside events: rules, states of subjects, and what a rule saw last. */
import type { Knex } from 'knex';
import { type Column, rowsOf } from '../../../database/unnest.ts';
import type { EvaluatedRule, Evaluation, RuleCounts } from './evaluate-rules.ts';
import { stateKey } from './evaluate-rules.ts';
import type { AlertState } from './step.ts';

/** Environments with something to evaluate or to resolve. */
export async function listEvaluatedEnvironments(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT environment_id AS id FROM alert_rules WHERE enabled AND tombstoned_at IS NULL
     UNION SELECT environment_id FROM alert_events WHERE status <> 'resolved'`,
  );
  return rows.map(({ id }) => id);
}

export async function listAllRules(
  db: Knex,
  environmentId: string,
): Promise<(EvaluatedRule & { enabled: boolean })[]> {
  const { rows } = await db.raw<{ rows: (EvaluatedRule & { enabled: boolean })[] }>(
    `SELECT r.id, r.name, r.pipeline_id AS "pipelineId", r.metric, r.condition, r.threshold,
       r.duration_seconds AS "durationSeconds", r.enabled
     FROM alert_rules r WHERE r.environment_id = ? AND r.tombstoned_at IS NULL ORDER BY lower(r.name)`,
    [environmentId],
  );
  return rows;
}

interface StateRow {
  ruleId: string;
  subject: string;
  since: Date | null;
  clearSince: Date | null;
  missing: number;
}

/** By `stateKey`; those of disabled rules too. */
export async function readStates(db: Knex, environmentId: string): Promise<Map<string, AlertState>> {
  const { rows } = await db.raw<{ rows: StateRow[] }>(
    `SELECT s.rule_id AS "ruleId", s.subject, s.since, s.clear_since AS "clearSince", s.missing
     FROM alert_states s JOIN alert_rules r ON r.id = s.rule_id WHERE r.environment_id = ?`,
    [environmentId],
  );
  return new Map(
    rows.map(({ ruleId, subject, since, clearSince, missing }) => [
      stateKey(ruleId, subject),
      { since: since?.getTime() ?? null, clearSince: clearSince?.getTime() ?? null, missing },
    ]),
  );
}

/** Rules that were deleted meanwhile are left out. */
export async function writeStates(tx: Knex, states: Evaluation['states']): Promise<void> {
  const gone = states.filter(({ state }) => state === null);
  if (gone.length > 0) {
    const batch = rowsOf([
      ['rule_id', 'text', gone.map(({ ruleId }) => ruleId)],
      ['subject', 'text', gone.map(({ subject }) => subject)],
    ]);
    await tx.raw(
      `DELETE FROM alert_states s USING ${batch.source} WHERE s.rule_id = b.rule_id AND s.subject = b.subject`,
      batch.values,
    );
  }
  const written = states.flatMap(({ state, ...key }) => (state ? [{ ...key, ...state }] : []));
  if (written.length === 0) return;
  const date = (at: number | null) => (at === null ? null : new Date(at));
  const columns: Column[] = [
    ['rule_id', 'text', written.map(({ ruleId }) => ruleId)],
    ['subject', 'text', written.map(({ subject }) => subject)],
    ['since', 'timestamptz', written.map(({ since }) => date(since))],
    ['clear_since', 'timestamptz', written.map(({ clearSince }) => date(clearSince))],
    ['missing', 'integer', written.map(({ missing }) => missing)],
  ];
  const batch = rowsOf(columns);
  await tx.raw(
    `INSERT INTO alert_states (${batch.names}) SELECT ${batch.picked} FROM ${batch.source}
     WHERE EXISTS (SELECT 1 FROM alert_rules r WHERE r.id = b.rule_id)
     ON CONFLICT (rule_id, subject) DO UPDATE SET since = excluded.since, clear_since = excluded.clear_since,
       missing = excluded.missing`,
    batch.values,
  );
}

/** A count that stays the same is written once a minute. Answers whether any count is another. */
export async function writeCounts(tx: Knex, counts: readonly RuleCounts[], now: Date): Promise<boolean> {
  if (counts.length === 0) return false;
  const batch = rowsOf([
    ['rule_id', 'text', counts.map(({ ruleId }) => ruleId)],
    ['series', 'integer', counts.map(({ series }) => series)],
    ['with_value', 'integer', counts.map(({ withValue }) => withValue)],
    ['pending', 'integer', counts.map(({ pending }) => pending)],
    ['firing', 'integer', counts.map(({ firing }) => firing)],
  ]);
  const isOther = `(e.series, e.with_value, e.pending, e.firing) IS DISTINCT FROM (b.series, b.with_value, b.pending, b.firing)`;
  const { rows } = await tx.raw<{ rows: { changed: boolean }[] }>(
    `WITH due AS (
       SELECT b.*, e.rule_id IS NULL OR ${isOther} AS changed
       FROM ${batch.source} JOIN alert_rules r ON r.id = b.rule_id
         LEFT JOIN alert_rule_evaluations e ON e.rule_id = b.rule_id
       WHERE e.rule_id IS NULL OR ${isOther} OR e.evaluated_at NOT BETWEEN ?::timestamptz - interval '1 minute' AND ?
     ), written AS (
       INSERT INTO alert_rule_evaluations (${batch.names}, evaluated_at)
       SELECT rule_id, series, with_value, pending, firing, ?::timestamptz FROM due
       ON CONFLICT (rule_id) DO UPDATE SET evaluated_at = excluded.evaluated_at, series = excluded.series,
         with_value = excluded.with_value, pending = excluded.pending, firing = excluded.firing
     ) SELECT coalesce(bool_or(changed), false) AS changed FROM due`,
    [...batch.values, now, now, now],
  );
  return rows[0]?.changed ?? false;
}
