/** What happened to a pipeline or a node while its chart was drawn: deploys, steps of rollouts, exits of engines, alerts. */
import type { Knex } from 'knex';
import type { MetricsMark } from '../../../../schemas/api/insight/metrics.ts';
import { minutesOf } from '../minutes/packing-store.ts';
import type { Window } from './window.ts';

/** Of each kind, the newest. */
export const MAX_MARKS = 50;

export async function readMarks(
  db: Knex,
  pipelineId: string,
  { from, to }: Window,
  crashes: readonly { at: Date; exits: number }[],
): Promise<MetricsMark[]> {
  const window = { pipelineId, from: new Date(from), to: new Date(to) };
  const { rows: deploys } = await db.raw<{ rows: { at: Date; version: number; commit: string | null }[] }>(
    `SELECT deployed_at AS at, version, commit_sha AS commit FROM pipeline_deploys
     WHERE pipeline_id = :pipelineId AND deployed_at >= :from AND deployed_at < :to
     ORDER BY deployed_at DESC LIMIT ${MAX_MARKS}`,
    window,
  );
  const { rows: rollouts } = await db.raw<{ rows: RolloutRow[] }>(
    `SELECT r.created_at AS "createdAt", r.health_started_at AS "healthStartedAt", r.ended_at AS "endedAt", r.status,
       r.commit_sha AS commit, v.version
     FROM rollouts r LEFT JOIN pipeline_versions v ON v.id = r.canary_version_id
     WHERE r.pipeline_id = :pipelineId AND r.created_at < :to AND coalesce(r.ended_at, now()) >= :from
     ORDER BY r.created_at DESC LIMIT ${MAX_MARKS}`,
    window,
  );
  const alerts = await readAlertMarks(db, { pipelineId }, { from, to });
  return [
    ...alerts,
    ...deploys.map(
      ({ at, version, commit }): MetricsMark => ({
        ...{ at, kind: 'deploy', text: `Version ${version} was deployed`, version, commit, eventId: null },
      }),
    ),
    ...rollouts
      .flatMap((rollout) => stepsOf(rollout))
      .filter(({ at }) => at.getTime() >= from && at.getTime() < to),
    ...crashes.map(
      ({ at, exits }): MetricsMark => ({
        ...{ at, kind: 'crash', version: null, commit: null, eventId: null },
        text: exits === 1 ? 'An engine ended' : `Engines ended ${exits} times`,
      }),
    ),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** When alerts about the pipeline, or about the node, fired: an event that flaps has fired several times. */
export async function readAlertMarks(
  db: Knex,
  about: { pipelineId: string } | { nodeId: string },
  { from, to }: Pick<Window, 'from' | 'to'>,
): Promise<MetricsMark[]> {
  const [column, id] = 'nodeId' in about ? ['node_id', about.nodeId] : ['pipeline_id', about.pipelineId];
  const { rows } = await db.raw<{ rows: { at: Date; text: string; eventId: string }[] }>(
    `SELECT c.at, e.message AS text, e.id AS "eventId" FROM alert_events e JOIN alert_event_changes c ON c.event_id = e.id
     WHERE e.${column} = :id AND e.opened_at >= :from AND e.fired_at < :to
       AND c.kind IN ('fired', 'fired_again') AND c.at >= :from AND c.at < :to
     ORDER BY c.at DESC LIMIT ${MAX_MARKS}`,
    { id, from: new Date(from), to: new Date(to) },
  );
  return rows.map((row): MetricsMark => ({ ...row, kind: 'alert', version: null, commit: null })).reverse();
}

/** When engines of the pipeline ended, and how many in that step: the newest. */
const exitsOf =
  (table: string, time: 'minute' | 'hour') =>
  async (
    db: Knex,
    pipelineId: string,
    { from, to, stepSeconds }: Window,
  ): Promise<{ at: Date; exits: number }[]> => {
    const { rows } = await db.raw<{ rows: { at: Date; exits: number }[] }>(
      `SELECT to_timestamp(floor(extract(epoch FROM m.${time}) / :stepSeconds) * :stepSeconds) AS at, sum(m.exits)::int AS exits
       FROM ${table} m WHERE m.pipeline_id = :pipelineId AND m.exits > 0 AND m.${time} >= :from AND m.${time} < :to
       GROUP BY 1 ORDER BY 1 DESC LIMIT ${MAX_MARKS}`,
      { pipelineId, from: new Date(from), to: new Date(to), stepSeconds },
    );
    return rows;
  };

export const readMinuteExits = exitsOf(
  minutesOf('pipeline_minutes', 'm.pipeline_id = :pipelineId', ['exits'], '0 < ANY (m.exits)'),
  'minute',
);
export const readHourExits = exitsOf('pipeline_hours', 'hour');

interface RolloutRow {
  createdAt: Date;
  healthStartedAt: Date | null;
  endedAt: Date | null;
  status: string;
  commit: string | null;
  version: number | null;
}

function stepsOf({
  createdAt,
  healthStartedAt,
  endedAt,
  status,
  commit,
  version,
}: RolloutRow): MetricsMark[] {
  const name = version === null ? 'The rollout' : `The rollout of version ${version}`;
  const step = (at: Date | null, text: string): MetricsMark[] =>
    at ? [{ at, kind: 'rollout', text, version, commit, eventId: null }] : [];
  return [
    ...step(createdAt, `${name} began on its canary nodes`),
    ...step(healthStartedAt, `${name} is watched`),
    ...step(endedAt, status === 'ROLLED_BACK' ? `${name} was rolled back` : `${name} went to all nodes`),
  ];
}

export async function deleteDeploysBefore(db: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM pipeline_deploys WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM pipeline_deploys WHERE deployed_at < ? LIMIT ?))`,
    [before, limit],
  );
  return rowCount;
}
