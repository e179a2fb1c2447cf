/** What the rules are given of an environment's pipelines: a fixed number of statements for any number of pipelines. */
import type { Knex } from 'knex';
import { type Measured, type PipelineFacts, WINDOW_HOURS } from './rules.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** Graphs have up to 1 MiB each. */
const PIPELINES_PER_READ = 25;

type SumRow = Omit<Measured, 'hours'> & { pipelineId: string };

/** Sums of the hours since `from`, but for those before the last deploy, which another version moved. */
async function sumHours(db: Knex, environmentId: string, from: Date): Promise<Map<string, SumRow>> {
  const { rows } = await db.raw<{ rows: SumRow[] }>(
    `SELECT h.pipeline_id AS "pipelineId", sum(h.events_in) AS "eventsIn", sum(h.events_out) AS "eventsOut",
       sum(h.bytes_in) AS "bytesIn", sum(h.bytes_out) AS "bytesOut", sum(h.errors) AS errors,
       count(*)::int AS "hoursReported", (count(*) FILTER (WHERE h.events_in > 0))::int AS "hoursWithEvents"
     FROM pipeline_hours h JOIN pipelines p ON p.id = h.pipeline_id
     WHERE h.environment_id = ? AND h.hour >= ? AND h.hour >= coalesce(p.deployed_at, '-infinity') GROUP BY 1`,
    [environmentId, from],
  );
  return new Map(rows.map((row) => [row.pipelineId, row]));
}

interface SinkRow {
  pipelineId: string;
  componentId: string;
  bytesOut: number;
}

/** Of each pipeline the ten that sent the most. */
async function largestSinks(db: Knex, environmentId: string, from: Date): Promise<Map<string, SinkRow[]>> {
  const { rows } = await db.raw<{ rows: SinkRow[] }>(
    `SELECT "pipelineId", "componentId", "bytesOut" FROM (
       SELECT h.pipeline_id AS "pipelineId", h.component_id AS "componentId", sum(h.bytes_out) AS "bytesOut",
         row_number() OVER (PARTITION BY h.pipeline_id ORDER BY sum(h.bytes_out) DESC, h.component_id) AS place
       FROM sink_hours h JOIN pipelines p ON p.id = h.pipeline_id
       WHERE h.environment_id = ? AND h.hour >= ? AND h.hour >= coalesce(p.deployed_at, '-infinity')
       GROUP BY 1, 2) s WHERE place <= 10 ORDER BY "pipelineId", place`,
    [environmentId, from],
  );
  return Map.groupBy(rows, ({ pipelineId }) => pipelineId);
}

interface PipelineRow extends Pick<PipelineFacts, 'pipelineId' | 'graph' | 'isInMaintenance'> {
  deployedAt: Date | null;
}

/** Deployed pipelines by id, those after `after`. */
async function readPipelines(db: Knex, environmentId: string, after: string): Promise<PipelineRow[]> {
  const { rows } = await db.raw<{ rows: PipelineRow[] }>(
    `SELECT p.id AS "pipelineId", p.deployed_at AS "deployedAt",
       jsonb_build_object('nodes', p.graph_nodes, 'edges', p.graph_edges) AS graph,
       EXISTS (SELECT 1 FROM node_pipelines o JOIN nodes n ON n.id = o.node_id
         WHERE o.pipeline_id = p.id AND n.maintenance AND n.archived_at IS NULL) AS "isInMaintenance"
     FROM pipelines p
     WHERE p.environment_id = ? AND p.id > ? AND NOT p.is_draft AND p.tombstoned_at IS NULL
       AND p.deployed_version_id IS NOT NULL
     ORDER BY p.id LIMIT ?`,
    [environmentId, after, PIPELINES_PER_READ],
  );
  return rows;
}

const NOTHING: Omit<SumRow, 'pipelineId'> = {
  ...{ eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0 },
  ...{ hoursReported: 0, hoursWithEvents: 0 },
};

/** Facts of all deployed pipelines, some at a time. */
export async function* readFacts(
  db: Knex,
  environmentId: string,
  now: number,
): AsyncGenerator<PipelineFacts[]> {
  const since = (hours: number) => new Date(now - hours * HOUR_MS);
  const weeks = await sumHours(db, environmentId, since(WINDOW_HOURS));
  const days = await sumHours(db, environmentId, since(DAY_HOURS));
  const sinks = await largestSinks(db, environmentId, since(WINDOW_HOURS));
  for (let after = ''; ; ) {
    const rows = await readPipelines(db, environmentId, after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map((row) => {
      const deployedAt = row.deployedAt?.getTime() ?? null;
      const measured = (hours: number, sums: SumRow | undefined): Measured => ({
        ...(sums ?? NOTHING),
        hours: Math.min(hours, deployedAt === null ? hours : Math.max(1, (now - deployedAt) / HOUR_MS)),
      });
      return {
        ...row,
        deployedAt,
        week: measured(WINDOW_HOURS, weeks.get(row.pipelineId)),
        day: measured(DAY_HOURS, days.get(row.pipelineId)),
        sinks: sinks.get(row.pipelineId) ?? [],
      };
    });
    after = last.pipelineId;
  }
}
