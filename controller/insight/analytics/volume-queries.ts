/** Sums volumes over pipelines, environments and time. */
import type { Knex } from 'knex';
import { minutesOf } from '../telemetry/index.ts';
import type { Period } from './period.ts';
import type { Amounts } from './volume.ts';

export interface EnvironmentRef {
  environmentId: string;
  name: string;
  teamId: string;
  teamName: string;
  pricePerGb: number | null;
}

/** `teamIds` null means all teams. */
export async function listEnvironments(
  db: Knex,
  filter: { environmentId: string } | { teamIds: readonly string[] | null },
): Promise<EnvironmentRef[]> {
  const single = 'environmentId' in filter ? filter.environmentId : null;
  const teamIds = 'teamIds' in filter ? filter.teamIds : [];
  const { rows } = await db.raw<{ rows: EnvironmentRef[] }>(
    `SELECT e.id AS "environmentId", e.name, e.team_id AS "teamId", t.name AS "teamName", e.price_per_gb AS "pricePerGb"
     FROM environments e JOIN teams t ON t.id = e.team_id
     WHERE e.id = :single OR :all OR e.team_id = ANY (:teamIds) ORDER BY lower(t.name), lower(e.name), e.id`,
    { single, all: teamIds === null, teamIds: [...(teamIds ?? [])] },
  );
  return rows;
}

const MINUTES = minutesOf(
  'pipeline_minutes',
  'm.pipeline_id = ANY (ARRAY(SELECT id FROM pipelines WHERE environment_id = ANY (:environmentIds)))',
  ['events_in', 'events_out', 'bytes_in', 'bytes_out'],
);

/** Rows of the period's unit with the environment that they belong to. A minute is of an environment while its pipeline is there. */
const SOURCES: Readonly<Record<Period['unit'], string>> = {
  // Of packed hours at either end, minutes outside the period are there too.
  minute: `(SELECT m.minute AS at, p.environment_id, m.* FROM ${MINUTES} m JOIN pipelines p ON p.id = m.pipeline_id
    WHERE m.minute >= :from AND m.minute < :to) v`,
  hour: `(SELECT m.hour AS at, m.* FROM pipeline_hours m
    WHERE m.environment_id = ANY (:environmentIds) AND m.hour >= :from AND m.hour < :to) v`,
};
const AMOUNTS = `coalesce(sum(v.events_in), 0) AS "eventsIn", coalesce(sum(v.events_out), 0) AS "eventsOut",
  coalesce(sum(v.bytes_in), 0) AS "bytesIn", coalesce(sum(v.bytes_out), 0) AS "bytesOut"`;

const bindings = (environmentIds: readonly string[], from: number, to: number) => ({
  ...{ environmentIds: [...environmentIds], from: new Date(from), to: new Date(to) },
});

export async function sumByEnvironment(
  db: Knex,
  environmentIds: readonly string[],
  { unit, from, to }: Pick<Period, 'unit' | 'from' | 'to'>,
): Promise<Map<string, Amounts>> {
  const { rows } = await db.raw<{ rows: (Amounts & { environmentId: string })[] }>(
    `SELECT v.environment_id AS "environmentId", ${AMOUNTS} FROM ${SOURCES[unit]} GROUP BY 1`,
    bindings(environmentIds, from, to),
  );
  return new Map(rows.map(({ environmentId, ...amounts }) => [environmentId, amounts]));
}

export interface PipelineAmounts extends Amounts {
  pipelineId: string;
  name: string | null;
}

/** Those with the most bytes first, and how many there are. */
export async function sumByPipeline(
  db: Knex,
  environmentId: string,
  { unit, from, to }: Period,
  limit: number,
): Promise<{ total: number; pipelines: PipelineAmounts[] }> {
  const { rows } = await db.raw<{ rows: (PipelineAmounts & { total: number })[] }>(
    `SELECT s.*, p.name, count(*) OVER ()::int AS total FROM (
       SELECT v.pipeline_id AS "pipelineId", ${AMOUNTS} FROM ${SOURCES[unit]} GROUP BY 1) s
     LEFT JOIN pipelines p ON p.id = s."pipelineId" AND p.tombstoned_at IS NULL
     ORDER BY s."bytesIn" + s."bytesOut" DESC, s."pipelineId" LIMIT :limit`,
    { ...bindings([environmentId], from, to), limit },
  );
  return { total: rows[0]?.total ?? 0, pipelines: rows.map(({ total, ...row }) => row) };
}

export interface SinkAmounts {
  pipelineId: string;
  pipelineName: string | null;
  componentId: string;
  eventsOut: number;
  bytesOut: number;
}

/** By the hour, for any period. */
export async function sumBySink(
  db: Knex,
  environmentId: string,
  { from, to }: Period,
  limit: number,
): Promise<{ total: number; sinks: SinkAmounts[] }> {
  const { rows } = await db.raw<{ rows: (SinkAmounts & { total: number })[] }>(
    `SELECT s.*, p.name AS "pipelineName", count(*) OVER ()::int AS total FROM (
       SELECT v.pipeline_id AS "pipelineId", v.component_id AS "componentId", sum(v.events_out) AS "eventsOut",
         sum(v.bytes_out) AS "bytesOut"
       FROM sink_hours v WHERE v.environment_id = ANY (:environmentIds) AND v.hour >= :from AND v.hour < :to GROUP BY 1, 2) s
     LEFT JOIN pipelines p ON p.id = s."pipelineId" AND p.tombstoned_at IS NULL
     ORDER BY s."bytesOut" DESC, s."pipelineId", s."componentId" LIMIT :limit`,
    { ...bindings([environmentId], from, to), limit },
  );
  return { total: rows[0]?.total ?? 0, sinks: rows.map(({ total, ...row }) => row) };
}

export interface StepAmounts {
  id: string;
  environmentId: string;
  step: number;
  bytesIn: number;
  bytesOut: number;
}

/** Bytes of each step, by pipeline or by environment. */
export async function sumBySteps(
  db: Knex,
  environmentIds: readonly string[],
  { unit, from, to, stepSeconds }: Period,
  by: 'pipeline' | 'environment',
): Promise<StepAmounts[]> {
  const { rows } = await db.raw<{ rows: StepAmounts[] }>(
    `SELECT v.${by}_id AS id, v.environment_id AS "environmentId",
       floor((extract(epoch FROM v.at) - :fromSeconds) / :stepSeconds)::int AS step,
       sum(v.bytes_in) AS "bytesIn", sum(v.bytes_out) AS "bytesOut"
     FROM ${SOURCES[unit]} GROUP BY 1, 2, 3`,
    { ...bindings(environmentIds, from, to), fromSeconds: from / 1_000, stepSeconds },
  );
  return rows;
}

export async function pipelineNames(db: Knex, ids: readonly string[]): Promise<Map<string, string>> {
  const rows: { id: string; name: string }[] = await db('pipelines')
    .whereIn('id', ids)
    .whereNull('tombstoned_at')
    .select('id', 'name');
  return new Map(rows.map(({ id, name }) => [id, name]));
}
