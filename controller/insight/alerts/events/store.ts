/** Events of alert rules and their timelines. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../../schemas/api/common.ts';
import type { AlertEventChange } from '../../../../schemas/api/insight/alerts.ts';
import { type Column, rowsOf } from '../../../database/unnest.ts';
import type { OpenEvent } from '../evaluation/evaluate-rules.ts';

export type ChangeKind = AlertEventChange['kind'];

export interface NewChange {
  eventId: string;
  at: Date;
  kind: ChangeKind;
  value?: number | null;
  note?: string | null;
  userEmail?: string | null;
}

/** The key of a Postgres advisory lock. */
const CHANGES_LOCK = 7_236_044;

/**
 * In the order of commits: who follows changes by id misses none. It is the last that a transaction does with events, since it
 * waits for other transactions that do the same.
 */
export async function insertChanges(tx: Knex, changes: readonly NewChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.raw('SELECT pg_advisory_xact_lock(?)', [CHANGES_LOCK]);
  const batch = rowsOf([
    ['event_id', 'text', changes.map(({ eventId }) => eventId)],
    ['at', 'timestamptz', changes.map(({ at }) => at)],
    ['kind', 'text', changes.map(({ kind }) => kind)],
    ['value', 'double precision', changes.map(({ value }) => value ?? null)],
    ['note', 'text', changes.map(({ note }) => note ?? null)],
    ['user_email', 'text', changes.map(({ userEmail }) => userEmail ?? null)],
  ]);
  await tx.raw(
    `INSERT INTO alert_event_changes (${batch.names}) SELECT ${batch.picked} FROM ${batch.source}`,
    batch.values,
  );
}

export async function listOpenOf(db: Knex, environmentId: string): Promise<OpenEvent[]> {
  return db('alert_events')
    .where({ environment_id: environmentId })
    .whereNot({ status: 'resolved' })
    .select({
      ...{ id: 'id', ruleId: 'rule_id', subject: 'subject', status: 'status', value: 'value', peak: 'peak' },
      ...{ times: 'times', mutedBy: 'muted_by', notified: 'notified' },
    });
}

export interface NewEvent {
  id: string;
  ruleId: string;
  subject: string;
  ruleName: string;
  metric: string;
  condition: string;
  threshold: number;
  durationSeconds: number;
  node: { id: string; name: string; labels: LabelMap } | null;
  pipeline: { id: string; name: string } | null;
  message: string;
  value: number;
  mutedBy: string | null;
}

/**
 * Opens the events, or opens the event again that a subject's rule resolved after `reopenAfter`. Answers the ids by the given
 * ones, and which were opened again. Those that are not muted count as sent. Rules that were deleted meanwhile have none.
 */
export async function openEvents(
  tx: Knex,
  environmentId: string,
  events: readonly NewEvent[],
  { at, reopenAfter }: { at: Date; reopenAfter: Date },
): Promise<Map<string, { id: string; again: boolean }>> {
  if (events.length === 0) return new Map();
  // A node that fails has an event for each of its pipelines.
  const texts = new Map<LabelMap, string>();
  const labelsText = ({ labels }: { labels: LabelMap }): string => {
    const text = texts.get(labels) ?? JSON.stringify(labels);
    texts.set(labels, text);
    return text;
  };
  const columns: Column[] = [
    ['id', 'text', events.map(({ id }) => id)],
    ['rule_id', 'text', events.map(({ ruleId }) => ruleId)],
    ['subject', 'text', events.map(({ subject }) => subject)],
    ['rule_name', 'text', events.map(({ ruleName }) => ruleName)],
    ['metric', 'text', events.map(({ metric }) => metric)],
    ['condition', 'text', events.map(({ condition }) => condition)],
    ['threshold', 'double precision', events.map(({ threshold }) => threshold)],
    ['duration_seconds', 'integer', events.map(({ durationSeconds }) => durationSeconds)],
    ['node_id', 'text', events.map(({ node }) => node?.id)],
    ['node_name', 'text', events.map(({ node }) => node?.name)],
    ['node_labels', 'jsonb', events.map(({ node }) => node && labelsText(node))],
    ['pipeline_id', 'text', events.map(({ pipeline }) => pipeline?.id)],
    ['pipeline_name', 'text', events.map(({ pipeline }) => pipeline?.name)],
    ['message', 'text', events.map(({ message }) => message)],
    ['value', 'double precision', events.map(({ value }) => value)],
    ['muted_by', 'text', events.map(({ mutedBy }) => mutedBy)],
  ];
  const batch = rowsOf(columns);
  const set = columns
    .slice(3)
    .map(([name, type]) => `${name} = a.${name}${type === 'jsonb' ? '::jsonb' : ''}`);
  const { rows } = await tx.raw<{ rows: { given: string; id: string; again: boolean }[] }>(
    `WITH asked AS (
       SELECT b.*, (SELECT e.id FROM alert_events e WHERE e.rule_id = b.rule_id AND e.subject = b.subject
         AND e.resolved_at > ? ORDER BY e.resolved_at DESC LIMIT 1) AS former
       FROM ${batch.source} JOIN alert_rules r ON r.id = b.rule_id
     ), again AS (
       UPDATE alert_events e SET status = 'firing', times = times + 1, opened_at = ?, resolved_at = NULL,
         resolved_reason = NULL, acknowledged_at = NULL, acknowledged_by = NULL, notified = a.muted_by IS NULL, peak = a.value,
         ${set.join(', ')}
       FROM asked a WHERE e.id = a.former RETURNING a.id AS given, e.id
     ), made AS (
       INSERT INTO alert_events (${batch.names}, environment_id, status, notified, peak, fired_at, opened_at)
       SELECT ${batch.picked}, ?, 'firing', b.muted_by IS NULL, value, ?::timestamptz, ?::timestamptz FROM asked b WHERE former IS NULL
       ON CONFLICT (rule_id, subject) WHERE status <> 'resolved' DO NOTHING RETURNING id
     )
     SELECT given, id, true AS again FROM again UNION ALL SELECT id, id, false FROM made`,
    [reopenAfter, ...batch.values, at, environmentId, at, at],
  );
  return new Map(rows.map(({ given, id, again }) => [given, { id, again }]));
}

/** Answers the ids of those that were still open, with whether their firing was sent. */
export async function resolveEvents(
  tx: Knex,
  resolved: readonly { id: string; reason: string | null; value: number | null }[],
  at: Date,
): Promise<{ id: string; notified: boolean }[]> {
  if (resolved.length === 0) return [];
  const batch = rowsOf([
    ['id', 'text', resolved.map(({ id }) => id)],
    ['reason', 'text', resolved.map(({ reason }) => reason)],
    ['value', 'double precision', resolved.map(({ value }) => value)],
  ]);
  const { rows } = await tx.raw<{ rows: { id: string; notified: boolean }[] }>(
    `WITH before AS (
       SELECT e.id, e.notified, b.reason, b.value FROM ${batch.source} JOIN alert_events e ON e.id = b.id
       WHERE e.status <> 'resolved' FOR UPDATE OF e
     )
     UPDATE alert_events e SET status = 'resolved', resolved_at = ?, resolved_reason = b.reason,
       value = coalesce(b.value, e.value), muted_by = NULL, notified = false
     FROM before b WHERE e.id = b.id RETURNING e.id, b.notified`,
    [...batch.values, at],
  );
  return rows;
}

export async function updateOpen(
  tx: Knex,
  changed: readonly {
    id: string;
    value: number | null;
    peak: number | null;
    mutedBy: string | null;
    message: string;
  }[],
): Promise<void> {
  if (changed.length === 0) return;
  const batch = rowsOf([
    ['id', 'text', changed.map(({ id }) => id)],
    ['value', 'double precision', changed.map(({ value }) => value)],
    ['peak', 'double precision', changed.map(({ peak }) => peak)],
    ['muted_by', 'text', changed.map(({ mutedBy }) => mutedBy)],
    ['message', 'text', changed.map(({ message }) => message)],
  ]);
  await tx.raw(
    `UPDATE alert_events e SET value = b.value, peak = b.peak, muted_by = b.muted_by, message = b.message
     FROM ${batch.source} WHERE e.id = b.id AND e.status <> 'resolved'`,
    batch.values,
  );
}

export async function markNotified(tx: Knex, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx('alert_events').whereIn('id', ids).update({ notified: true });
}

/** Null where it is gone or resolved. */
export async function acknowledgeOpen(
  tx: Knex,
  id: string,
  { at, by }: { at: Date; by: string },
): Promise<boolean> {
  const changed = await tx('alert_events')
    .where({ id, status: 'firing' })
    .update({ status: 'acknowledged', acknowledged_at: at, acknowledged_by: by });
  return changed > 0;
}

/** At most `limit`; their timelines go with them. */
export async function deleteEventsBefore(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM alert_events WHERE id IN (SELECT id FROM alert_events
       WHERE status = 'resolved' AND resolved_at < ? ORDER BY resolved_at LIMIT ?)`,
    [before, limit],
  );
  return rowCount;
}
