/**
 * What happened to the pipelines of an environment while its charts were drawn: deployments and steps of rollouts. Those of
 * one step of the window are one mark, so that a push that deploys all pipelines is one line.
 */
import type { Knex } from 'knex';
import { type EnvironmentMark, MAX_MARK_PIPELINES } from '../../../../schemas/api/insight/metrics.ts';
import { MAX_MARKS } from './marks-queries.ts';
import type { Window } from './window.ts';

type Gathered = Pick<EnvironmentMark, 'at' | 'count' | 'version' | 'commit' | 'pipelineCount' | 'pipelines'>;
interface GatheredSteps extends Gathered {
  step: keyof typeof ROLLOUT_STEPS;
}

/** `pipelineIds`: null for all of the environment. Of deployments and of steps of rollouts, the newest marks. */
export async function readEnvironmentMarks(
  db: Knex,
  { environmentId, pipelineIds }: { environmentId: string; pipelineIds: readonly string[] | null },
  { from, to, stepSeconds }: Window,
): Promise<EnvironmentMark[]> {
  const bindings = {
    ...{ environmentId, allPipelines: pipelineIds === null, pipelineIds: [...(pipelineIds ?? [])] },
    ...{ from: new Date(from), to: new Date(to), stepSeconds },
  };
  const { rows: deploys } = await db.raw<{ rows: Gathered[] }>(
    gathered(
      `SELECT p.id, p.name, d.deployed_at AS at, d.version, d.commit_sha AS commit, 'deploy' AS step
       FROM pipelines p JOIN pipeline_deploys d ON d.pipeline_id = p.id
       WHERE d.deployed_at >= :from AND d.deployed_at < :to`,
    ),
    bindings,
  );
  const { rows: steps } = await db.raw<{ rows: GatheredSteps[] }>(
    gathered(
      `SELECT p.id, p.name, s.at, v.version, r.commit_sha AS commit, s.step
       FROM pipelines p JOIN rollouts r ON r.pipeline_id = p.id
         LEFT JOIN pipeline_versions v ON v.id = r.canary_version_id
         CROSS JOIN LATERAL (VALUES (r.created_at, 'began'), (r.health_started_at, 'watched'),
           (r.ended_at, CASE r.status WHEN 'ROLLED_BACK' THEN 'rolledBack' ELSE 'broadened' END)) s (at, step)
       WHERE r.created_at < :to AND coalesce(r.ended_at, now()) >= :from AND s.at >= :from AND s.at < :to`,
    ),
    bindings,
  );
  return [
    ...deploys.map((row): EnvironmentMark => ({ ...markOf(row), kind: 'deploy', text: deployText(row) })),
    ...steps.map(({ step, ...row }): EnvironmentMark => {
      const [one, many] = ROLLOUT_STEPS[step];
      return { ...markOf(row), kind: 'rollout', text: rolloutText(row, one, many) };
    }),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** SQL of what happened in each step of the window, of rows with `id` and `name` of the pipeline `p`. */
const gathered = (events: string): string => `
  WITH events AS (${events} AND p.environment_id = :environmentId AND p.tombstoned_at IS NULL
    AND (:allPipelines OR p.id = ANY (:pipelineIds))
  ), of_pipelines AS (
    SELECT step, floor(extract(epoch FROM at) / :stepSeconds) AS place, id, name, min(at) AS at, count(*) AS count,
      (array_agg(version ORDER BY at DESC, version DESC))[1] AS version,
      min(commit) AS least, max(commit) AS most, count(commit) AS commits
    FROM events GROUP BY step, place, id, name
  )
  SELECT step, min(at) AS at, sum(count)::int AS count, count(*)::int AS "pipelineCount",
    CASE WHEN sum(count) = 1 THEN min(version) END AS version,
    CASE WHEN min(least) = max(most) AND sum(commits) = sum(count) THEN min(least) END AS commit,
    to_json((array_agg(json_build_object('id', id, 'name', name, 'version', version)
      ORDER BY name))[1:${MAX_MARK_PIPELINES}]) AS pipelines
  FROM of_pipelines GROUP BY step, place ORDER BY place DESC, step LIMIT ${MAX_MARKS}`;

const markOf = ({ at, count, version, commit, pipelineCount, pipelines }: Gathered) => ({
  ...{ at, count, version, commit, pipelineCount, pipelines, eventId: null },
});

const nameOf = ({ pipelines }: Gathered): string => pipelines[0]?.name ?? 'a pipeline';
const ofOne = (row: Gathered): string => (row.pipelineCount === 1 ? ` of ${nameOf(row)}` : '');

const deployText = (row: Gathered): string =>
  row.count === 1
    ? `Version ${row.version}${ofOne(row)} was deployed`
    : `${row.count} deployments${ofOne(row)}`;

/** Of one rollout, and of several. */
const ROLLOUT_STEPS = {
  began: ['began on its canary nodes', 'began on their canary nodes'],
  watched: ['is watched', 'are watched'],
  rolledBack: ['was rolled back', 'were rolled back'],
  broadened: ['went to all nodes', 'went to all nodes'],
} as const;

function rolloutText(row: Gathered, one: string, many: string): string {
  if (row.count > 1) return `${row.count} rollouts${ofOne(row)} ${many}`;
  const version = row.version === null ? '' : ` of version ${row.version}`;
  return `The rollout${version}${ofOne(row)} ${one}`;
}
