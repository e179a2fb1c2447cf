/**
 * Reads the rows for the join of desired and observed state, for environments or one object in one. Five statements, regardless
 * of size.
 */
import type { Knex } from 'knex';
import type { RefusedVersion } from '../../../schemas/agent/protocol.ts';
import type { Condition, GitOrigin, LabelMap } from '../../../schemas/api/common.ts';
import type { Draining, LastDrain, NodePipelineStatus } from '../../../schemas/api/pipelines.ts';
import { ACTIVE_ROLLOUT, AUTO_REVERTS } from '../../delivery/rollouts/index.ts';
import { type GroupRule, listGroupRules } from '../groups/index.ts';
import type { RevertView } from './refusal.ts';
import type { Canary } from './version-for-node.ts';

export interface NodeRow {
  id: string;
  environmentId: string;
  name: string;
  host: string;
  os: string | null;
  channel: 'stable' | 'dev';
  revoked: boolean;
  /** The target version of a pending agent update. */
  updateTo: string | null;
  maintenance: boolean;
  uiLabels: LabelMap;
  agentLabels: LabelMap;
  enrolledAt: Date | null;
  /** When it was archived; set only if nodes are requested by id or archived ones are requested. */
  archivedAt: Date | null;
  heardAt: Date | null;
  agentVersion: string | null;
  engineVersion: string | null;
  deploymentMode: 'STANDALONE' | 'DOCKER' | null;
  hostMetrics: Record<string, number>;
  agentHealth: Record<string, number | boolean>;
  runningAs: string | null;
  updateError: string | null;
  pollIntervalMs: number | null;
}

export interface PipelineRow {
  id: string;
  environmentId: string;
  name: string;
  description: string | null;
  isDraft: boolean;
  managedBy: 'ui' | 'git';
  groupId: string | null;
  nodeSelector: LabelMap | null;
  deployedVersionId: string | null;
  /** Selector of the deployed version; `nodeSelector` belongs to the edited definition. */
  deployedSelector: LabelMap | null;
  /** The active rollout. */
  rollout: RolloutRow | null;
  deployedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  deployedVersion: number | null;
  deployedCommit: string | null;
  latestVersion: number | null;
  latestCommit: string | null;
  latestCommitMessage: string | null;
  latestCommitAuthor: string | null;
  /** Reverts by node id. */
  reverts: Readonly<Record<string, RevertView>>;
  manifest: ManifestRow | null;
  problem: string | null;
}

/** An active rollout: its canary nodes and its progress. */
export interface RolloutRow extends Canary {
  id: string;
  status: 'CANARY_DEPLOYED' | 'HEALTH_CHECK';
  version: number;
  commit: string | null;
  /** When canary nodes should have started to run the version. */
  since: Date;
  windowMinutes: number;
  healthStartedAt: Date | null;
  heldReason: string | null;
}

export interface ManifestRow {
  path: string;
  line: number;
  seenCommit: string | null;
  appliedCommit: string | null;
  seenHash: string | null;
  appliedHash: string | null;
  prunePending: boolean;
  conditions: Condition[];
}

export interface ReportRow {
  nodeId: string;
  pipelineId: string;
  version: number;
  status: Exclude<NodePipelineStatus, 'PENDING'>;
  lastError: string | null;
  /** The failing part of a running engine; truncated when a whole environment is read. */
  degraded: string | null;
  /** Set while its engine is being stopped. */
  draining: Draining | null;
  refused: RefusedVersion | null;
  statusSince: Date;
  rateEventsIn: number;
  rateEventsOut: number;
  rateBytesIn: number;
  rateBytesOut: number;
  rateErrors: number;
  /** When the counters were read; null while they are fresh. */
  metricsAsOf: Date | null;
  /** Absent when a whole environment is read: lists do not need it. */
  detail?: ReportDetail;
}

export interface ReportDetail {
  pid: number | null;
  uptimeSeconds: number | null;
  restarts: number;
  metricsPort: number | null;
  apiPort: number | null;
  reportedAt: Date;
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
  errorsTotal: number;
  eventsDiscarded: number;
  warnings: string[];
  lastDrain: LastDrain | null;
  eventsFiltered: number;
}

/** The commits that were read and applied from git; null for an environment without a binding. */
export interface BindingRow {
  headCommit: string | null;
  headAt: string | null;
  appliedCommit: string | null;
  appliedAt: Date | null;
  lastError: string | null;
  importErrors: number;
}

export interface Observed {
  binding: BindingRow | null;
  nodes: NodeRow[];
  pipelines: PipelineRow[];
  reports: ReportRow[];
  /** Ordered by name. */
  groups: GroupRule[];
}

/** An environment, or one pipeline or node of it. */
export type ObservedScope =
  | { environmentId: string }
  | { environmentId: string; pipelineId: string }
  | { environmentId: string; nodeId: string };

export async function readObserved(db: Knex, scope: ObservedScope): Promise<Observed> {
  const observed = await readObservedOfMany(db, {
    environmentIds: [scope.environmentId],
    pipelineId: 'pipelineId' in scope ? scope.pipelineId : null,
    nodeIds: 'nodeId' in scope ? [scope.nodeId] : null,
  });
  return observed.get(scope.environmentId) ?? emptyObserved();
}

const emptyObserved = (): Observed => ({ binding: null, nodes: [], pipelines: [], reports: [], groups: [] });

interface ReadFilter {
  environmentIds: readonly string[];
  /** Null for all pipelines. */
  pipelineId: string | null;
  /** Null for all nodes that are not archived. */
  nodeIds: readonly string[] | null;
  /** Reads archived nodes instead of active ones. */
  archived?: boolean;
}

/** A state of a pipeline that many nodes report; in a large fleet nearly all nodes report the same one. */
export interface SharedState extends Pick<ReportRow, 'pipelineId' | 'version' | 'status'> {
  /** Indexes in the list of nodes. */
  nodeIndexes: number[];
}

export interface CompactObserved extends Pick<Observed, 'nodes' | 'pipelines' | 'groups'> {
  states: SharedState[];
}

/** Reads a whole environment, but only the version and status from reports. */
export async function readCompactObserved(db: Knex, environmentId: string): Promise<CompactObserved> {
  const filter = { environmentIds: [environmentId], pipelineId: null, nodeIds: null };
  const nodes = await readNodes(db, filter);
  const pipelines = await readPipelines(db, filter);
  const states = await readStates(
    db,
    nodes.map(({ id }) => id),
  );
  return { nodes, pipelines, groups: await listGroupRules(db, [environmentId]), states };
}

/** Grouped by state instead of by node: this takes half as long and transfers a tenth. */
async function readStates(db: Knex, nodeIds: readonly string[]): Promise<SharedState[]> {
  const { rows } = await db.raw<{ rows: (Omit<SharedState, 'nodeIndexes'> & { indexes: string })[] }>(
    `SELECT s.pipeline_id AS "pipelineId", s.version, s.status, string_agg(n.place::text, ',') AS indexes
     FROM unnest(?::text[]) WITH ORDINALITY n(id, place) JOIN node_pipelines s ON s.node_id = n.id
     GROUP BY s.pipeline_id, s.version, s.status`,
    [[...nodeIds]],
  );
  return rows.map(({ indexes, ...states }) => ({
    ...states,
    // SQL ordinality starts at 1.
    nodeIndexes: indexes.split(',').map((index) => Number(index) - 1),
  }));
}

/** Observed state by environment id, with an entry for each requested id. */
export async function readObservedOfMany(db: Knex, filter: ReadFilter): Promise<Map<string, Observed>> {
  const found = new Map(filter.environmentIds.map((id) => [id, emptyObserved()]));
  // One after the other: `db` may be a transaction, whose connection takes one statement at a time.
  for (const row of await readNodes(db, filter)) found.get(row.environmentId)?.nodes.push(row);
  for (const row of await readPipelines(db, filter)) found.get(row.environmentId)?.pipelines.push(row);
  for (const row of await readReports(db, filter)) found.get(row.environmentId)?.reports.push(row);
  for (const { environmentId, ...row } of await readBindings(db, filter)) {
    const observed = found.get(environmentId);
    if (observed) observed.binding = row;
  }
  for (const { environmentId, ...row } of await listGroupRules(db, filter.environmentIds))
    found.get(environmentId)?.groups.push(row);
  return found;
}

type WithEnvironmentId<T> = T & { environmentId: string };

async function readBindings(db: Knex, filter: ReadFilter): Promise<WithEnvironmentId<BindingRow>[]> {
  const { rows } = await db.raw<{ rows: WithEnvironmentId<BindingRow>[] }>(
    `SELECT b.environment_id AS "environmentId", b.head_commit->>'sha' AS "headCommit", b.head_commit->>'at' AS "headAt",
       b.applied_commit->>'sha' AS "appliedCommit", b.last_pass_at AS "appliedAt", b.last_error AS "lastError",
       (SELECT count(*) FROM git_import_errors e WHERE e.binding_id = b.id) AS "importErrors"
     FROM git_bindings b WHERE b.environment_id = ANY(:environmentIds) AND b.mode <> 'off'`,
    { environmentIds: [...filter.environmentIds] },
  );
  return rows;
}

const NODE_FILTER = `CASE WHEN :nodeIds::text[] IS NULL THEN (n.archived_at IS NOT NULL) = :archived
  ELSE n.id = ANY(:nodeIds) END`;

async function readNodes(db: Knex, filter: ReadFilter): Promise<NodeRow[]> {
  const { rows } = await db.raw<{ rows: NodeRow[] }>(
    `SELECT n.id, n.environment_id AS "environmentId", n.name, n.host, n.os, n.channel,
       n.token_revoked_at IS NOT NULL AS revoked, n.pending_action->>'targetVersion' AS "updateTo", n.maintenance,
       n.ui_labels AS "uiLabels", coalesce(r.agent_labels, '{}') AS "agentLabels", n.enrolled_at AS "enrolledAt", n.archived_at AS "archivedAt",
       h.heard_at AS "heardAt", r.agent_version AS "agentVersion", COALESCE(r.engine_version, n.enrolled_engine_version) AS "engineVersion",
       r.deployment_mode AS "deploymentMode", coalesce(r.host_metrics, '{}') AS "hostMetrics",
       coalesce(r.agent_health, '{}') AS "agentHealth", r.running_as AS "runningAs", r.update_error AS "updateError",
       r.poll_interval_ms AS "pollIntervalMs"
     FROM nodes n LEFT JOIN node_reports r ON r.node_id = n.id LEFT JOIN node_presence h ON h.node_id = n.id
     WHERE n.environment_id = ANY(:environmentIds) AND ${NODE_FILTER} ORDER BY n.name, n.id`,
    bindings(filter),
  );
  return rows;
}

const bindings = ({ environmentIds, pipelineId, nodeIds, archived = false }: ReadFilter) => ({
  archived,
  environmentIds: [...environmentIds],
  pipelineId,
  nodeIds: nodeIds && [...nodeIds],
});

async function readPipelines(db: Knex, filter: ReadFilter): Promise<PipelineRow[]> {
  const { rows } = await db.raw<{ rows: PipelineRow[] }>(
    `SELECT p.id, p.environment_id AS "environmentId", p.name, p.description, p.is_draft AS "isDraft",
       p.managed_by AS "managedBy", g.group_id AS "groupId",
       p.node_selector AS "nodeSelector", p.deployed_version_id AS "deployedVersionId",
       d.node_selector AS "deployedSelector", p.deployed_at AS "deployedAt", p.created_at AS "createdAt", p.updated_at AS "updatedAt",
       d.version AS "deployedVersion", d.commit_sha AS "deployedCommit",
       l.version AS "latestVersion", l.commit_sha AS "latestCommit",
       l.commit_message AS "latestCommitMessage", l.commit_author AS "latestCommitAuthor",
       CASE WHEN r.id IS NULL THEN NULL ELSE jsonb_build_object(
         'id', r.id, 'status', r.status, 'versionId', c.id, 'version', c.version, 'commit', c.commit_sha,
         'nodeSelector', c.node_selector, 'canarySelector', r.canary_selector, 'windowMinutes', r.window_minutes,
         'since', greatest(r.created_at, c.created_at), 'healthStartedAt', r.health_started_at,
         'heldReason', r.held_reason) END AS rollout,
       CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object(
         'path', m.path, 'line', m.line, 'seenCommit', m.seen_commit, 'appliedCommit', m.applied_commit,
         'seenHash', m.seen_hash, 'appliedHash', m.applied_hash, 'prunePending', m.prune_pending, 'conditions', m.conditions) END AS manifest,
       coalesce((SELECT jsonb_object_agg(v.node_id, jsonb_build_object('refusedVersionId', v.refused_version_id,
           'refusedVersion', bad.version, 'servedVersionId', v.served_version_id, 'servedVersion', good.version,
           'by', v.refused_by, 'reason', v.reason, 'fault', v.fault, 'since', v.since))
         FROM node_reverts v JOIN pipeline_versions bad ON bad.id = v.refused_version_id
           JOIN pipeline_versions good ON good.id = v.served_version_id JOIN environments e ON e.id = p.environment_id
         WHERE v.pipeline_id = p.id AND ${AUTO_REVERTS}), '{}') AS reverts,
       (SELECT e.message FROM git_import_errors e
         WHERE e.binding_id = m.binding_id AND e.kind = m.kind AND lower(e.name) = m.name_key
         ORDER BY e.id LIMIT 1) AS problem
     FROM pipelines p
     LEFT JOIN pipeline_group_members g ON g.pipeline_id = p.id
     LEFT JOIN pipeline_versions d ON d.id = p.deployed_version_id
     LEFT JOIN pipeline_versions l ON l.id = p.latest_version_id
     LEFT JOIN rollouts r ON r.pipeline_id = p.id AND r.${ACTIVE_ROLLOUT}
     LEFT JOIN pipeline_versions c ON c.id = r.canary_version_id
     LEFT JOIN git_manifests m ON m.object_id = p.id AND m.kind = 'Pipeline'
     WHERE p.environment_id = ANY(:environmentIds) AND p.tombstoned_at IS NULL
       AND (:pipelineId::text IS NULL OR p.id = :pipelineId)
     ORDER BY lower(p.name)`,
    bindings(filter),
  );
  return rows.map((row) => ({
    ...row,
    rollout: row.rollout && {
      ...row.rollout,
      since: new Date(row.rollout.since),
      healthStartedAt: row.rollout.healthStartedAt && new Date(row.rollout.healthStartedAt),
    },
    manifest: row.manifest && { ...row.manifest, conditions: datedConditions(row.manifest.conditions) },
  }));
}

/** Conditions are stored as JSON, which holds times as text. */
export function datedConditions(conditions: readonly Condition[]): Condition[] {
  return conditions.map((condition) => ({
    ...condition,
    lastTransition: new Date(condition.lastTransition),
  }));
}

export const datedOrigin = (git: GitOrigin | null): GitOrigin | null =>
  git && { ...git, conditions: datedConditions(git.conditions) };

const FROM_REPORTS = `FROM node_pipelines s JOIN nodes n ON n.id = s.node_id
  WHERE n.environment_id = ANY(:environmentIds)
    AND (:pipelineId::text IS NULL OR s.pipeline_id = :pipelineId)
    AND ${NODE_FILTER}`;

async function readDetailedReports(db: Knex, filter: ReadFilter): Promise<WithEnvironmentId<ReportRow>[]> {
  const { rows } = await db.raw<{ rows: WithEnvironmentId<ReportRow & ReportDetail>[] }>(
    `SELECT n.environment_id AS "environmentId", s.node_id AS "nodeId", s.pipeline_id AS "pipelineId", s.version, s.status, s.pid,
       s.uptime_seconds AS "uptimeSeconds", s.restarts, s.metrics_port AS "metricsPort", s.api_port AS "apiPort", s.last_error AS "lastError", s.degraded, s.warnings,
       s.refused, s.draining, s.last_drain AS "lastDrain", s.status_since AS "statusSince",
       s.reported_at AS "reportedAt", s.events_in AS "eventsIn", s.events_out AS "eventsOut", s.bytes_in AS "bytesIn",
       s.bytes_out AS "bytesOut", s.errors_total AS "errorsTotal", s.events_discarded AS "eventsDiscarded",
       s.events_filtered AS "eventsFiltered", s.metrics_as_of AS "metricsAsOf", s.rate_events_in AS "rateEventsIn",
       s.rate_events_out AS "rateEventsOut", s.rate_bytes_in AS "rateBytesIn", s.rate_bytes_out AS "rateBytesOut",
       s.rate_errors AS "rateErrors" ${FROM_REPORTS}`,
    bindings(filter),
  );
  return rows.map(
    ({ pid, uptimeSeconds, restarts, metricsPort, apiPort, reportedAt, warnings, lastDrain, ...row }) => {
      const {
        eventsIn,
        eventsOut,
        bytesIn,
        bytesOut,
        errorsTotal,
        eventsDiscarded,
        eventsFiltered,
        ...report
      } = row;
      const totals = { eventsIn, eventsOut, bytesIn, bytesOut, errorsTotal, eventsDiscarded, eventsFiltered };
      const detail = { pid, uptimeSeconds, restarts, metricsPort, apiPort, reportedAt, warnings, ...totals };
      const drain = lastDrain && { ...lastDrain, endedAt: new Date(lastDrain.endedAt) };
      return { ...report, detail: { ...detail, lastDrain: drain } };
    },
  );
}

const FIELD = '\x1f';
const RECORD = '\x1e';

/**
 * Reads one text per node instead of one row per report: the driver takes 6 microseconds for a row of many columns, and a large
 * fleet has tens of thousands of reports.
 */
async function readReports(db: Knex, filter: ReadFilter): Promise<WithEnvironmentId<ReportRow>[]> {
  if (filter.pipelineId !== null || filter.nodeIds?.length === 1) return readDetailedReports(db, filter);
  const { rows } = await db.raw<{ rows: { environmentId: string; nodeId: string; reports: string }[] }>(
    `SELECT n.environment_id AS "environmentId", s.node_id AS "nodeId", string_agg(concat_ws(chr(31), s.pipeline_id, s.version,
       s.status, (extract(epoch FROM s.status_since) * 1000)::bigint, s.rate_events_in, s.rate_events_out, s.rate_bytes_in,
       s.rate_bytes_out, s.rate_errors, COALESCE((extract(epoch FROM s.metrics_as_of) * 1000)::bigint::text, ''),
       COALESCE(CASE WHEN s.status = 'CRASHED' THEN translate(left(s.last_error, 500), chr(30) || chr(31), '') END, ''),
       COALESCE(CASE WHEN s.status = 'RUNNING' THEN translate(left(s.degraded, 500), chr(30) || chr(31), '') END, ''), s.refused), chr(30)) AS reports
     ${FROM_REPORTS} GROUP BY n.environment_id, s.node_id`,
    bindings(filter),
  );
  return rows.flatMap(({ environmentId, nodeId, reports }) =>
    reports.split(RECORD).map((record) => {
      const [
        pipelineId = '',
        version,
        status,
        since,
        eventsIn,
        eventsOut,
        bytesIn,
        bytesOut,
        errors,
        metricsAsOf,
        lastError,
        degraded,
        refused,
      ] = record.split(FIELD);
      return {
        environmentId,
        nodeId,
        pipelineId,
        version: Number(version),
        status: status as ReportRow['status'],
        statusSince: new Date(Number(since)),
        lastError: lastError || null,
        degraded: degraded || null,
        draining: null,
        refused: refused ? (JSON.parse(refused) as RefusedVersion) : null,
        rateEventsIn: Number(eventsIn),
        rateEventsOut: Number(eventsOut),
        rateBytesIn: Number(bytesIn),
        rateBytesOut: Number(bytesOut),
        rateErrors: Number(errors),
        metricsAsOf: metricsAsOf ? new Date(Number(metricsAsOf)) : null,
      };
    }),
  );
}

/** Throws if the database does not respond. */
export async function readHealth(
  db: Knex,
): Promise<{ migrations: number; leaderUntil: Date | null; bindings: number; failingBindings: number }> {
  const { rows } = await db.raw(
    `SELECT (SELECT count(*) FROM schema_migrations) AS migrations,
       (SELECT max(expires_at) FROM leases WHERE expires_at > clock_timestamp()) AS "leaderUntil",
       (SELECT count(*) FROM git_bindings WHERE mode <> 'off') AS bindings,
       (SELECT count(*) FROM git_bindings WHERE mode <> 'off' AND last_error IS NOT NULL) AS "failingBindings"`,
  );
  return rows[0];
}
