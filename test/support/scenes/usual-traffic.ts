/** Days of steady traffic of deployed pipelines, by the minute and by the hour, and minutes in which it is another. */
import type { Knex } from 'knex';
import { dayOf } from '../../../controller/database/day-partitions.ts';
import { MINUTE_TABLES } from '../../../controller/insight/telemetry/minutes/postgres-store.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';

export interface Traffic {
  eventsPerSecond?: number;
  errorsPerSecond?: number;
  latencyMs?: number;
}

const USUAL = { eventsPerSecond: 100, errorsPerSecond: 0.5, latencyMs: 4 };
const DAY_MS = 86_400_000;
const VALUES = `events_in, errors, latency_sum, latency_count`;
/** Nothing is exactly alike: two percent more or less. */
const varied = (name: string) => `:${name}::float8 * (0.98 + 0.04 * random())`;

export interface DeployedPipeline {
  environmentId: string;
  pipelineId: string;
}

/** Deployed long ago as version 7 from a commit; a node of its own that has reported it lately. */
export async function insertDeployed(db: Knex, environmentId: string, at: number): Promise<DeployedPipeline> {
  const [pipelineId, versionId, nodeId] = [newId(), newId(), newId()];
  await db('pipelines').insert({ id: pipelineId, environment_id: environmentId, name: pipelineId });
  await db.raw(
    `INSERT INTO pipeline_versions (id, pipeline_id, version, config_yaml, log_level, graph_nodes, graph_edges, global_config,
       source, commit_sha) VALUES (?, ?, 7, '', 'info', '[]', '[]', '{}', 'git', ?)`,
    [versionId, pipelineId, 'c0ffee'.padEnd(40, '0')],
  );
  await db('pipelines').where({ id: pipelineId }).update({ deployed_version_id: versionId, is_draft: false });
  await db('pipeline_deploys')
    .where({ pipeline_id: pipelineId })
    .update({ deployed_at: new Date(at - 30 * DAY_MS) });
  await db('nodes').insert({ id: nodeId, environment_id: environmentId, name: nodeId, host: nodeId });
  await db('series_readings').insert({
    ...{ node_id: nodeId, pipeline_id: pipelineId, read_at: new Date(at), reading: '{}' },
  });
  return { environmentId, pipelineId };
}

/** Traffic of the days before `at`, up to the last whole minute. */
export async function recordDays(
  db: Knex,
  pipelines: readonly DeployedPipeline[],
  { at, days = 8, ...traffic }: Traffic & { at: number; days?: number },
): Promise<void> {
  await MINUTE_TABLES.pipeline_minutes.ensure(
    db,
    Array.from({ length: days + 2 }, (_, day) => dayOf(at + (1 - day) * DAY_MS)),
  );
  const bindings = {
    ...{ ...USUAL, ...traffic, at: new Date(at), minutes: days * 1_440, hours: days * 24 },
    ids: pipelines.map(({ pipelineId }) => pipelineId),
    environmentIds: pipelines.map(({ environmentId }) => environmentId),
  };
  const rate = (seconds: number) =>
    `${varied('eventsPerSecond')} * ${seconds}, ${varied('errorsPerSecond')} * ${seconds}, ${varied('latencyMs')}, 1`;
  await db.raw(
    `INSERT INTO pipeline_minutes (pipeline_id, minute, seconds, nodes, ${VALUES})
     SELECT id, date_trunc('minute', :at::timestamptz) - m * interval '1 minute', 60, 1, ${rate(60)}
     FROM unnest(:ids::text[]) id, generate_series(1, :minutes::int) m`,
    bindings,
  );
  await db.raw(
    `INSERT INTO pipeline_hours (pipeline_id, environment_id, hour, seconds, nodes, ${VALUES})
     SELECT id, env, date_trunc('hour', :at::timestamptz, 'UTC') - h * interval '1 hour', 3600, 0, ${rate(3_600)}
     FROM unnest(:ids::text[], :environmentIds::text[]) AS b(id, env), generate_series(0, :hours::int) h`,
    bindings,
  );
}

/** Replaces the last minutes. Null leaves nothing: nothing was reported. */
export async function changeMinutes(
  db: Knex,
  pipelineId: string,
  { at, minutes }: { at: number; minutes: number },
  traffic: Traffic | null,
): Promise<void> {
  const of = db('pipeline_minutes')
    .where({ pipeline_id: pipelineId })
    .where('minute', '>=', new Date(at - minutes * 60_000));
  if (traffic === null) {
    await of.delete();
    return;
  }
  const { eventsPerSecond, errorsPerSecond, latencyMs } = { ...USUAL, ...traffic };
  await of.update({
    ...{ events_in: eventsPerSecond * 60, errors: errorsPerSecond * 60, latency_sum: latencyMs },
  });
}
