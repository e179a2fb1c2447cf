/** Reads that join what should run with what runs, for an environment or one thing in it. Five statements, whatever its size. */
import type { Knex } from 'knex';
import type { Condition, GitOrigin, LabelMap } from '../../schemas/api/common.ts';
import type { NodePipelineStatus } from '../../schemas/api/pipelines.ts';
import { type GroupRule, listGroupRules } from '../node-groups/index.ts';

export interface NodeRow {
  id: string;
  environmentId: string;
  name: string;
  host: string;
  os: string | null;
  maintenance: boolean;
  uiLabels: LabelMap;
  agentLabels: LabelMap;
  enrolledAt: Date | null;
  reportedAt: Date | null;
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
  nodeSelector: LabelMap | null;
  deployedVersionId: string | null;
  deployedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  deployedVersion: number | null;
  deployedCommit: string | null;
  latestVersion: number | null;
  latestCommit: string | null;
  latestCommitMessage: string | null;
  latestCommitAuthor: string | null;
  manifest: ManifestRow | null;
  problem: string | null;
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
  pid: number | null;
  uptimeSeconds: number | null;
  restarts: number;
  lastError: string | null;
  statusSince: Date;
  reportedAt: Date;
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
  errorsTotal: number;
  rateEventsIn: number;
  rateEventsOut: number;
  rateBytesIn: number;
  rateBytesOut: number;
  rateErrors: number;
}

/** How far git has been read and accepted; null for an environment that is not bound. */
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
  /** By name. */
  groups: GroupRule[];
}

/** One of the ids narrows it down. */
export type ObservedOf =
  | { environmentId: string }
  | { environmentId: string; pipelineId: string }
  | { environmentId: string; nodeId: string };

export async function readObserved(db: Knex, of: ObservedOf): Promise<Observed> {
  const pipelineId = 'pipelineId' in of ? of.pipelineId : null;
  const nodeId = 'nodeId' in of ? of.nodeId : null;
  // One after the other: `db` may be a transaction, whose connection takes one statement at a time.
  const nodes = await readNodes(db, of.environmentId, nodeId);
  const pipelines = await readPipelines(db, of.environmentId, pipelineId);
  const reports = await readReports(db, of.environmentId, pipelineId, nodeId);
  const binding = await readBinding(db, of.environmentId);
  const groups = await listGroupRules(db, of.environmentId);
  return { binding, nodes, pipelines, reports, groups };
}

async function readBinding(db: Knex, environmentId: string): Promise<BindingRow | null> {
  const { rows } = await db.raw<{ rows: BindingRow[] }>(
    `SELECT b.head_commit->>'sha' AS "headCommit", b.head_commit->>'at' AS "headAt",
       b.applied_commit->>'sha' AS "appliedCommit", b.last_pass_at AS "appliedAt", b.last_error AS "lastError",
       (SELECT count(*) FROM git_import_errors e WHERE e.binding_id = b.id) AS "importErrors"
     FROM git_bindings b WHERE b.environment_id = ? AND b.mode <> 'off'`,
    [environmentId],
  );
  return rows[0] ?? null;
}

async function readNodes(db: Knex, environmentId: string, nodeId: string | null): Promise<NodeRow[]> {
  const { rows } = await db.raw<{ rows: NodeRow[] }>(
    `SELECT n.id, n.environment_id AS "environmentId", n.name, n.host, n.os, n.maintenance,
       n.ui_labels AS "uiLabels", coalesce(r.agent_labels, '{}') AS "agentLabels", n.enrolled_at AS "enrolledAt",
       r.reported_at AS "reportedAt", r.agent_version AS "agentVersion", r.engine_version AS "engineVersion",
       r.deployment_mode AS "deploymentMode", coalesce(r.host_metrics, '{}') AS "hostMetrics",
       coalesce(r.agent_health, '{}') AS "agentHealth", r.running_as AS "runningAs", r.update_error AS "updateError",
       r.poll_interval_ms AS "pollIntervalMs"
     FROM nodes n LEFT JOIN node_reports r ON r.node_id = n.id
     WHERE n.environment_id = :environmentId AND (:nodeId::text IS NULL OR n.id = :nodeId)
     ORDER BY n.name, n.id`,
    { environmentId, nodeId },
  );
  return rows;
}

async function readPipelines(
  db: Knex,
  environmentId: string,
  pipelineId: string | null,
): Promise<PipelineRow[]> {
  const { rows } = await db.raw<{ rows: PipelineRow[] }>(
    `SELECT p.id, p.environment_id AS "environmentId", p.name, p.description, p.is_draft AS "isDraft",
       p.managed_by AS "managedBy", p.node_selector AS "nodeSelector", p.deployed_version_id AS "deployedVersionId",
       p.deployed_at AS "deployedAt", p.created_at AS "createdAt", p.updated_at AS "updatedAt",
       d.version AS "deployedVersion", d.commit_sha AS "deployedCommit",
       l.version AS "latestVersion", l.commit_sha AS "latestCommit",
       l.commit_message AS "latestCommitMessage", l.commit_author AS "latestCommitAuthor",
       CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object(
         'path', m.path, 'line', m.line, 'seenCommit', m.seen_commit, 'appliedCommit', m.applied_commit,
         'seenHash', m.seen_hash, 'appliedHash', m.applied_hash, 'prunePending', m.prune_pending, 'conditions', m.conditions) END AS manifest,
       (SELECT e.message FROM git_import_errors e
         WHERE e.binding_id = m.binding_id AND e.kind = m.kind AND lower(e.name) = m.name_key
         ORDER BY e.id LIMIT 1) AS problem
     FROM pipelines p
     LEFT JOIN pipeline_versions d ON d.id = p.deployed_version_id
     LEFT JOIN pipeline_versions l ON l.id = p.latest_version_id
     LEFT JOIN git_manifests m ON m.object_id = p.id AND m.kind = 'Pipeline'
     WHERE p.environment_id = :environmentId AND p.tombstoned_at IS NULL
       AND (:pipelineId::text IS NULL OR p.id = :pipelineId)
     ORDER BY lower(p.name)`,
    { environmentId, pipelineId },
  );
  return rows.map((row) => ({
    ...row,
    manifest: row.manifest && { ...row.manifest, conditions: datedConditions(row.manifest.conditions) },
  }));
}

/** Stored as JSON, where times are text. */
export function datedConditions(conditions: readonly Condition[]): Condition[] {
  return conditions.map((condition) => ({
    ...condition,
    lastTransition: new Date(condition.lastTransition),
  }));
}

export const datedOrigin = (git: GitOrigin | null): GitOrigin | null =>
  git && { ...git, conditions: datedConditions(git.conditions) };

async function readReports(
  db: Knex,
  environmentId: string,
  pipelineId: string | null,
  nodeId: string | null,
): Promise<ReportRow[]> {
  const { rows } = await db.raw<{ rows: ReportRow[] }>(
    `SELECT s.node_id AS "nodeId", s.pipeline_id AS "pipelineId", s.version, s.status, s.pid,
       s.uptime_seconds AS "uptimeSeconds", s.restarts, s.last_error AS "lastError", s.status_since AS "statusSince",
       s.reported_at AS "reportedAt", s.events_in AS "eventsIn", s.events_out AS "eventsOut", s.bytes_in AS "bytesIn",
       s.bytes_out AS "bytesOut", s.errors_total AS "errorsTotal", s.rate_events_in AS "rateEventsIn",
       s.rate_events_out AS "rateEventsOut", s.rate_bytes_in AS "rateBytesIn", s.rate_bytes_out AS "rateBytesOut",
       s.rate_errors AS "rateErrors"
     FROM node_pipelines s JOIN nodes n ON n.id = s.node_id
     WHERE n.environment_id = :environmentId
       AND (:pipelineId::text IS NULL OR s.pipeline_id = :pipelineId)
       AND (:nodeId::text IS NULL OR s.node_id = :nodeId)`,
    { environmentId, pipelineId, nodeId },
  );
  return rows;
}

/** Throws when the database does not answer. */
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
