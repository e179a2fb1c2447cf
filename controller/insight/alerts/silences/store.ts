import type { Knex } from 'knex';
import type { ActiveSilence } from '../../../../schemas/alerts/silence-matching.ts';
import type { LabelMap } from '../../../../schemas/api/common.ts';
import type { AlertSilence } from '../../../../schemas/api/insight/alerts.ts';
import type { SilenceSpec } from '../../../../schemas/manifests/silence.ts';
import type { ColumnTypes } from '../../../delivery/ownership/index.ts';
import { datedOrigin } from '../../../fleet/status/index.ts';
import { newId } from '../../../platform/operation/ids.ts';

/** Column types for `writeOwned`. */
export const SILENCE_COLUMNS: ColumnTypes = {
  matchers: 'jsonb',
  reason: 'text',
  starts_at: 'timestamptz',
  ends_at: 'timestamptz',
  created_at: 'timestamptz',
};

/**
 * One that says nothing of its start began when it was created: by equal times an export knows that. One whose end had
 * passed when git brought it begins just before that.
 */
export function silenceColumns({ matchers, reason, startsAt, endsAt }: SilenceSpec, createdAt: Date) {
  const end = new Date(endsAt);
  const created = startsAt === undefined && createdAt >= end ? new Date(end.getTime() - 1) : createdAt;
  return {
    ...{ matchers, reason: reason.trim() },
    ...{ starts_at: startsAt === undefined ? created : new Date(startsAt), ends_at: end },
    created_at: created,
  };
}

export async function listActiveSilences(
  db: Knex,
  environmentId: string,
  now: Date,
): Promise<ActiveSilence[]> {
  return db('alert_silences')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .where('starts_at', '<=', now)
    .where('ends_at', '>', now)
    .orderBy('ends_at', 'desc')
    .select('id', 'matchers');
}

const SELECT = `SELECT s.id, s.environment_id AS "environmentId", s.name, s.matchers, s.reason, s.starts_at AS "startsAt",
    s.ends_at AS "endsAt", s.created_by AS "createdBy", s.managed_by AS "managedBy", s.created_at AS "createdAt",
    s.updated_at AS "updatedAt",
    CASE WHEN s.ends_at <= :now THEN 'ended' WHEN s.starts_at > :now THEN 'scheduled' ELSE 'active' END AS status,
    (SELECT count(*)::int FROM alert_events e WHERE e.environment_id = s.environment_id AND e.muted_by = s.id
      AND e.status <> 'resolved') AS muted,
    CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object('path', m.path, 'line', m.line,
      'commit', m.applied_commit, 'conditions', m.conditions) END AS git
  FROM alert_silences s LEFT JOIN git_manifests m ON m.object_id = s.id AND m.kind = 'Silence'
  WHERE s.tombstoned_at IS NULL`;

const withDates = (silence: AlertSilence): AlertSilence => ({ ...silence, git: datedOrigin(silence.git) });

/** Those that are active or scheduled first, then the ended ones, the newest first. */
export async function listSilences(db: Knex, environmentId: string, now: Date): Promise<AlertSilence[]> {
  const { rows } = await db.raw<{ rows: AlertSilence[] }>(
    `${SELECT} AND s.environment_id = :environmentId ORDER BY s.ends_at <= :now, s.ends_at DESC, s.id LIMIT 500`,
    { environmentId, now },
  );
  return rows.map(withDates);
}

export async function findSilence(db: Knex, id: string, now: Date): Promise<AlertSilence | null> {
  const { rows } = await db.raw<{ rows: AlertSilence[] }>(`${SELECT} AND s.id = :id`, { id, now });
  return rows[0] ? withDates(rows[0]) : null;
}

export async function countUnended(db: Knex, environmentId: string, now: Date): Promise<number> {
  const row = await db('alert_silences')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .where('ends_at', '>', now)
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export async function insertSilence(
  tx: Knex,
  environmentId: string,
  silence: { matchers: LabelMap; reason: string; startsAt: Date; endsAt: Date; createdBy: string | null },
): Promise<string> {
  const id = newId();
  await tx('alert_silences').insert({
    ...{ id, environment_id: environmentId, name: `silence ${id.toLowerCase()}` },
    matchers: JSON.stringify(silence.matchers),
    ...{ reason: silence.reason, starts_at: silence.startsAt, ends_at: silence.endsAt },
    created_by: silence.createdBy,
  });
  return id;
}

/** One that has not begun is deleted: it has muted nothing. */
export async function endSilence(tx: Knex, id: string, now: Date): Promise<void> {
  await tx('alert_silences').where({ id }).where('starts_at', '>=', now).delete();
  await tx('alert_silences')
    .where({ id })
    .where('ends_at', '>', now)
    .update({ ends_at: now, updated_at: now });
}

/** At most `limit`. Those of git go with their manifests. */
export async function deleteSilencesBefore(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM alert_silences WHERE id IN (SELECT id FROM alert_silences
       WHERE ends_at < ? AND managed_by = 'ui' ORDER BY ends_at LIMIT ?)`,
    [before, limit],
  );
  return rowCount;
}
