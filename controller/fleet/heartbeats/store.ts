/** Writes heartbeats in batches: a fixed number of statements for any number of nodes. */
import type { Knex } from 'knex';
import type { RefusedVersion } from '../../../schemas/agent/protocol.ts';
import type { Draining, LastDrain } from '../../../schemas/api/pipelines/on-nodes.ts';
import { rowsOf } from '../../database/unnest.ts';
import type { StoredComponent } from '../../pipelines/index.ts';
import { claimPresence } from './presence-store.ts';

export interface NodeReport {
  nodeId: string;
  environmentId: string;
  receivedAt: Date;
  agentVersion: string | null;
  engineVersion: string | null;
  /** Digest of the engine's component types; null if it reports none. */
  engineComponents: string | null;
  deploymentMode: string | null;
  labels: Record<string, string>;
  /** How often the labels changed since the last stored report; each change increments the node's config revision. */
  labelChanges: number;
  hostMetrics: Record<string, number>;
  agentHealth: Record<string, number | boolean>;
  runningAs: string | null;
  updateError: string | null;
  pollIntervalMs: number | null;
  /** Once true, the stored value stays true. */
  deliversLogs: boolean;
  pipelines: PipelineReportRow[];
  /** See state-digest.ts. */
  state: string;
  /** Written even if its state is the stored one. */
  mustWrite: boolean;
}

export interface PipelineReportRow {
  pipelineId: string;
  version: number;
  status: string;
  pid: number | null;
  uptimeSeconds: number | null;
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
  errorsTotal: number;
  eventsDiscarded: number;
  eventsFiltered: number;
  /** When the counters were read; null while they are fresh. */
  metricsAsOf: Date | null;
  utilization: number | null;
  /** The mean of the components that report one: an event passes several of them. */
  latencyMs: number | null;
  rates: { eventsIn: number; eventsOut: number; bytesIn: number; bytesOut: number; errors: number };
  configChecksum: string | null;
  restarts: number;
  metricsPort: number | null;
  apiPort: number | null;
  lastError: string | null;
  degraded: string | null;
  warnings: string[];
  draining: Draining | null;
  /** Null keeps the stored one: an agent that has restarted knows none. */
  lastDrain: LastDrain | null;
  /** The version that the node's engine refused to build, while the old version runs. */
  refused: RefusedVersion | null;
  components: StoredComponent[];
  /** In and out of each of `components`, in their order. Measured, and not stored with them. */
  componentBytes: readonly (readonly [number, number])[];
}

/** A version that does not run on a node, according to its reports. reverts.ts decides whether the node is reverted. */
export interface FailingVersion {
  nodeId: string;
  pipelineId: string;
  by: 'NODE_CHECK' | 'CRASH';
  /** The version that does not run. */
  failed: number;
  /** The checksum of the refused rendering; null if the report does not contain it. */
  checksum: string | null;
  reason: string;
  /** The version that ran last. */
  ran: number;
}

/** A version that has run this long without an engine exit is proven: a later crash is not blamed on the change. */
const PROVEN = '10 minutes';
/** Failed starts after which a version counts as crashed. */
const CRASHES = 2;
/** A version that stays CRASHED this long counts as crashed, even if no exit was counted: the engine may not even start. */
const STUCK = '60 seconds';

/** One transaction. Skips deleted nodes, and nodes that were heard later by another controller. Returns the versions that do not run. */
export async function writeReports(
  db: Knex,
  all: readonly NodeReport[],
  now: Date,
): Promise<FailingVersion[]> {
  return db.transaction(async (tx) => {
    const newest = await claimPresence(tx, all, now);
    // The changes are counted of a report that comes too late as well: its node was sent the new revision.
    await countLabelChanges(
      tx,
      all.filter((report) => report.labelChanges > 0),
    );
    const reports = all.filter((report) => newest.has(report.nodeId));
    if (reports.length === 0) return [];
    await writeNodes(tx, reports);
    return writePipelines(tx, reports);
  });
}

/** Adds as many changes as were counted in memory, so that the stored revision equals the one that was sent to the node. */
async function countLabelChanges(tx: Knex, reports: readonly NodeReport[]): Promise<void> {
  if (reports.length === 0) return;
  await tx.raw(
    `UPDATE nodes n SET config_revision = n.config_revision + b.changes
     FROM unnest(?::text[], ?::integer[]) AS b(id, changes) WHERE n.id = b.id`,
    [reports.map((report) => report.nodeId), reports.map((report) => report.labelChanges)],
  );
}

async function writeNodes(tx: Knex, reports: readonly NodeReport[]): Promise<void> {
  const column = <T>(pick: (report: NodeReport) => T) => reports.map(pick);
  const batch = rowsOf([
    ['node_id', 'text', column((r) => r.nodeId)],
    ['reported_at', 'timestamptz', column((r) => r.receivedAt)],
    ['agent_version', 'text', column((r) => r.agentVersion)],
    ['engine_version', 'text', column((r) => r.engineVersion)],
    ['engine_components', 'text', column((r) => r.engineComponents)],
    ['deployment_mode', 'text', column((r) => r.deploymentMode)],
    ['agent_labels', 'jsonb', column((r) => JSON.stringify(r.labels))],
    ['host_metrics', 'jsonb', column((r) => JSON.stringify(r.hostMetrics))],
    ['agent_health', 'jsonb', column((r) => JSON.stringify(r.agentHealth))],
    ['running_as', 'text', column((r) => r.runningAs)],
    ['update_error', 'text', column((r) => r.updateError)],
    ['poll_interval_ms', 'integer', column((r) => r.pollIntervalMs)],
    ['delivers_logs', 'boolean', column((r) => r.deliversLogs)],
  ]);
  await tx.raw(
    `INSERT INTO node_reports AS r (${batch.names})
     SELECT ${batch.picked} FROM ${batch.source} ORDER BY b.node_id
     ON CONFLICT (node_id) DO UPDATE SET
       reported_at = excluded.reported_at, agent_version = excluded.agent_version,
       -- A heartbeat without a value keeps the stored one. The types of another engine version are unknown until it reports them.
       engine_components = COALESCE(excluded.engine_components,
         CASE WHEN excluded.engine_version <> r.engine_version THEN NULL ELSE r.engine_components END),
       engine_version = COALESCE(excluded.engine_version, r.engine_version), deployment_mode = excluded.deployment_mode,
       agent_labels = excluded.agent_labels, host_metrics = excluded.host_metrics, agent_health = excluded.agent_health,
       running_as = excluded.running_as, update_error = excluded.update_error,
       poll_interval_ms = excluded.poll_interval_ms, delivers_logs = r.delivers_logs OR excluded.delivers_logs`,
    batch.values,
  );
}

async function writePipelines(tx: Knex, reports: readonly NodeReport[]): Promise<FailingVersion[]> {
  const pairs = reports.flatMap((report) => report.pipelines.map((row) => ({ report, row })));
  const column = <T>(pick: (row: PipelineReportRow) => T) => pairs.map((pair) => pick(pair.row));
  const failing: FailingVersion[] = [];
  if (pairs.length > 0) {
    const reportedAt = pairs.map((pair) => pair.report.receivedAt);
    const batch = rowsOf([
      ['node_id', 'text', pairs.map((pair) => pair.report.nodeId)],
      ['pipeline_id', 'text', column((r) => r.pipelineId)],
      ['version', 'integer', column((r) => r.version)],
      ['status', 'text', column((r) => r.status)],
      ['pid', 'integer', column((r) => r.pid)],
      ['uptime_seconds', 'double precision', column((r) => r.uptimeSeconds)],
      ['events_in', 'double precision', column((r) => r.eventsIn)],
      ['events_out', 'double precision', column((r) => r.eventsOut)],
      ['bytes_in', 'double precision', column((r) => r.bytesIn)],
      ['bytes_out', 'double precision', column((r) => r.bytesOut)],
      ['errors_total', 'double precision', column((r) => r.errorsTotal)],
      ['events_discarded', 'double precision', column((r) => r.eventsDiscarded)],
      ['events_filtered', 'double precision', column((r) => r.eventsFiltered)],
      ['metrics_as_of', 'timestamptz', column((r) => r.metricsAsOf)],
      ['utilization', 'double precision', column((r) => r.utilization)],
      ['latency_ms', 'double precision', column((r) => r.latencyMs)],
      ['rate_events_in', 'double precision', column((r) => r.rates.eventsIn)],
      ['rate_events_out', 'double precision', column((r) => r.rates.eventsOut)],
      ['rate_bytes_in', 'double precision', column((r) => r.rates.bytesIn)],
      ['rate_bytes_out', 'double precision', column((r) => r.rates.bytesOut)],
      ['rate_errors', 'double precision', column((r) => r.rates.errors)],
      ['config_checksum', 'text', column((r) => r.configChecksum)],
      ['restarts', 'integer', column((r) => r.restarts)],
      ['metrics_port', 'integer', column((r) => r.metricsPort)],
      ['api_port', 'integer', column((r) => r.apiPort)],
      ['last_error', 'text', column((r) => r.lastError)],
      ['degraded', 'text', column((r) => r.degraded)],
      ['warnings', 'jsonb', column((r) => (r.warnings.length === 0 ? '[]' : JSON.stringify(r.warnings)))],
      ['draining', 'jsonb', column((r) => r.draining && JSON.stringify(r.draining))],
      ['last_drain', 'jsonb', column((r) => r.lastDrain && JSON.stringify(r.lastDrain))],
      ['components', 'jsonb', column((r) => JSON.stringify(r.components))],
      ['refused', 'jsonb', column((r) => r.refused && JSON.stringify(r.refused))],
      ['ran', 'boolean', column((r) => r.status === 'RUNNING')],
      ['crashes', 'integer', column((r) => (r.status === 'CRASHED' ? 1 : 0))],
      ['status_since', 'timestamptz', reportedAt],
      ['reported_at', 'timestamptz', reportedAt],
    ]);
    const updated = batch.names
      .split(', ')
      .filter(
        (name) => !['node_id', 'pipeline_id', 'status_since', 'last_drain', 'ran', 'crashes'].includes(name),
      )
      .map((name) => `${name} = excluded.${name}`)
      .join(', ');
    const { rows } = await tx.raw<{ rows: FailingRow[] }>(
      `WITH written AS (INSERT INTO node_pipelines AS s (${batch.names})
       SELECT ${batch.picked} FROM ${batch.source} ORDER BY b.node_id, b.pipeline_id
       ON CONFLICT (node_id, pipeline_id) DO UPDATE SET ${updated},
         last_drain = COALESCE(excluded.last_drain, s.last_drain),
         status_since = CASE WHEN s.status = excluded.status AND s.version = excluded.version
           THEN s.status_since ELSE excluded.status_since END,
         ran = excluded.ran OR (s.ran AND ${SAME}),
         proven = ${SAME} AND (s.proven OR (s.status = 'RUNNING' AND excluded.ran AND ${ENDED} = 0
           AND excluded.reported_at - s.status_since >= interval '${PROVEN}')),
         crashes = CASE WHEN ${SAME} THEN s.crashes + greatest(${ENDED},
             CASE WHEN s.status <> 'CRASHED' THEN excluded.crashes ELSE 0 END)
           ELSE excluded.crashes END,
         ran_version = CASE WHEN NOT ${SAME} AND ${RAN_WELL} THEN s.version ELSE s.ran_version END
       RETURNING s.*)
       SELECT s.node_id AS "nodeId", s.pipeline_id AS "pipelineId", s.version, s.last_error AS "lastError", s.refused,
         CASE WHEN ${RAN_WELL} OR s.ran_version IS NULL THEN s.version ELSE s.ran_version END AS ran, s.ran_version AS before,
         ${CRASHED} AS crashed
       FROM written s WHERE s.refused IS NOT NULL OR ${CRASHED}`,
      batch.values,
    );
    failing.push(...rows.flatMap(failuresOf));
  }
  // A node no longer has the pipelines that it no longer reports.
  await tx.raw(
    `DELETE FROM node_pipelines s USING unnest(?::text[], ?::timestamptz[]) AS b(node_id, reported_at)
     WHERE s.node_id = b.node_id AND s.reported_at <> b.reported_at`,
    [reports.map((report) => report.nodeId), reports.map((report) => report.receivedAt)],
  );
  return failing;
}

/** Whether the stored row `s` and the new one have the same version. */
const SAME = '(s.version = excluded.version)';
/** Engine exits since the last report; a smaller counter than before has restarted at zero. */
const ENDED =
  '(CASE WHEN excluded.restarts >= s.restarts THEN excluded.restarts - s.restarts ELSE excluded.restarts END)';
const RAN_WELL = `(s.proven OR (s.ran AND s.crashes < ${CRASHES}))`;
const CRASHED = `(s.status = 'CRASHED' AND NOT s.proven AND s.ran_version IS NOT NULL AND s.ran_version <> s.version
  AND (s.crashes >= ${CRASHES} OR s.reported_at - s.status_since >= interval '${STUCK}'))`;

interface FailingRow {
  nodeId: string;
  pipelineId: string;
  version: number;
  lastError: string | null;
  refused: RefusedVersion | null;
  ran: number;
  before: number | null;
  crashed: boolean;
}

function failuresOf({ nodeId, pipelineId, version, lastError, refused, ran, before, crashed }: FailingRow) {
  const failing: FailingVersion[] = [];
  if (refused && refused.version !== version) {
    const { version: failed, checksum, error: reason } = refused;
    failing.push({ nodeId, pipelineId, by: 'NODE_CHECK', failed, checksum, reason, ran });
  }
  if (crashed && before !== null) {
    const reason = lastError ?? '';
    failing.push({
      ...{ nodeId, pipelineId, by: 'CRASH', failed: version, checksum: null, reason, ran: before },
    });
  }
  return failing;
}
