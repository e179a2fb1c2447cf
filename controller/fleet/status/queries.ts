/**
 * Reads the rows for the join of desired and observed state, for environments or one object in one. Five statements, regardless
 * of size.
 */
import type { Knex } from 'knex';
import type { Condition, GitOrigin } from '../../../schemas/api/common.ts';
import { ACTIVE_ROLLOUT, AUTO_REVERTS } from '../../delivery/rollouts/index.ts';
import { listGroupRules } from '../groups/index.ts';
import type {
  BindingRow,
  CompactObserved,
  NodeRow,
  Observed,
  ObservedScope,
  PipelineRow,
  WithEnvironmentId,
} from './observed-rows.ts';
import { filterBindings, NODE_FILTER, type ReadFilter } from './read-filter.ts';
import { readReports, readStates } from './report-queries.ts';

export async function readObserved(db: Knex, scope: ObservedScope): Promise<Observed> {
  const observed = await readObservedOfMany(db, {
    environmentIds: [scope.environmentId],
    pipelineId: 'pipelineId' in scope ? scope.pipelineId : null,
    nodeIds: 'nodeId' in scope ? [scope.nodeId] : null,
  });
  return observed.get(scope.environmentId) ?? emptyObserved();
}

const emptyObserved = (): Observed => ({ binding: null, nodes: [], pipelines: [], reports: [], groups: [] });

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

async function readNodes(db: Knex, filter: ReadFilter): Promise<NodeRow[]> {
  const { rows } = await db.raw<{ rows: NodeRow[] }>(
    `SELECT n.id, n.environment_id AS "environmentId", n.name, n.host, n.os, n.channel,
       n.token_revoked_at IS NOT NULL AS revoked, n.pending_action->>'targetVersion' AS "updateTo", n.maintenance,
       n.ui_labels AS "uiLabels", coalesce(r.agent_labels, '{}') AS "agentLabels", n.enrolled_at AS "enrolledAt", n.archived_at AS "archivedAt",
       h.heard_at AS "heardAt", r.reported_at AS "reportedAt", r.agent_version AS "agentVersion", COALESCE(r.engine_version, n.enrolled_engine_version) AS "engineVersion",
       r.deployment_mode AS "deploymentMode", coalesce(r.host_metrics, '{}') AS "hostMetrics",
       coalesce(r.agent_health, '{}') AS "agentHealth", r.running_as AS "runningAs", r.update_error AS "updateError",
       r.poll_interval_ms AS "pollIntervalMs"
     FROM nodes n LEFT JOIN node_reports r ON r.node_id = n.id LEFT JOIN node_presence h ON h.node_id = n.id
     WHERE n.environment_id = ANY(:environmentIds) AND ${NODE_FILTER} ORDER BY n.name, n.id`,
    filterBindings(filter),
  );
  return rows;
}

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
    filterBindings(filter),
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
