/** Queries over all environments that a user may see, each with a fixed number of statements. */
import type { Knex } from 'knex';
import type { CommitInfo } from '../../../schemas/api/delivery/git-sync.ts';
import {
  MAX_NODE_CARDS,
  MAX_OVERVIEW_ENVIRONMENTS,
  MAX_PASSES,
  MAX_PROBLEMS,
  type Pass,
  type RecentAuditEntry,
  type RecentPipeline,
} from '../../../schemas/api/insight/dashboard.ts';
import { allCounts, datedCommit, type GitMode } from '../../delivery/bindings/index.ts';

export interface Viewer {
  userId: string;
  /** Null means all teams: a super admin. */
  teamIds: readonly string[] | null;
}

const VISIBLE = '(:all OR e.team_id = ANY(:teamIds))';
const visibilityOf = ({ teamIds }: Viewer) => ({ all: teamIds === null, teamIds: [...(teamIds ?? [])] });

export interface EnvironmentRef {
  environmentId: string;
  environmentName: string;
  teamId: string;
  teamName: string;
}
const ENVIRONMENT_COLUMNS = `e.id AS "environmentId", e.name AS "environmentName", e.team_id AS "teamId"`;
/** Callers group rows by team and environment, in this order. */
const BY_ENVIRONMENT = 'lower(t.name), lower(e.name), e.id';

/** The first environments by team and name, and the total number. */
export async function listVisibleEnvironments(
  db: Knex,
  viewer: Viewer,
): Promise<{ total: number; environments: EnvironmentRef[] }> {
  const { rows } = await db.raw<{ rows: (EnvironmentRef & { total: number })[] }>(
    `SELECT ${ENVIRONMENT_COLUMNS}, t.name AS "teamName", count(*) OVER () AS total
     FROM environments e JOIN teams t ON t.id = e.team_id WHERE ${VISIBLE}
     ORDER BY ${BY_ENVIRONMENT} LIMIT ${MAX_OVERVIEW_ENVIRONMENTS}`,
    visibilityOf(viewer),
  );
  return { total: rows[0]?.total ?? 0, environments: rows.map(({ total, ...environment }) => environment) };
}

export type NodeRef = Omit<EnvironmentRef, 'teamName'> & { id: string };

/** The first nodes by team, environment and name, and the total number. */
export async function listVisibleNodes(
  db: Knex,
  viewer: Viewer,
): Promise<{ total: number; nodes: NodeRef[] }> {
  const { rows } = await db.raw<{ rows: (NodeRef & { total: number })[] }>(
    `SELECT n.id, ${ENVIRONMENT_COLUMNS}, count(*) OVER () AS total
     FROM nodes n JOIN environments e ON e.id = n.environment_id JOIN teams t ON t.id = e.team_id
     WHERE n.archived_at IS NULL AND ${VISIBLE} ORDER BY ${BY_ENVIRONMENT}, n.name, n.id LIMIT ${MAX_NODE_CARDS}`,
    visibilityOf(viewer),
  );
  return { total: rows[0]?.total ?? 0, nodes: rows.map(({ total, ...node }) => node) };
}

export async function listRecentPipelines(
  db: Knex,
  viewer: Viewer,
  limit: number,
): Promise<RecentPipeline[]> {
  const { rows } = await db.raw<{ rows: RecentPipeline[] }>(
    `SELECT p.id, p.name, ${ENVIRONMENT_COLUMNS}, p.is_draft AS "isDraft", p.managed_by AS "managedBy",
       v.version AS "deployedVersionNumber", p.updated_at AS "updatedAt"
     FROM pipelines p JOIN environments e ON e.id = p.environment_id
       LEFT JOIN pipeline_versions v ON v.id = p.deployed_version_id
     WHERE p.tombstoned_at IS NULL AND ${VISIBLE} ORDER BY p.updated_at DESC, p.id DESC LIMIT :limit`,
    { ...visibilityOf(viewer), limit },
  );
  return rows;
}

const AUDIT_COLUMNS = `a.id, a.actor_type AS "actorType", a.user_id AS "userId", a.user_email AS "userEmail", a.action,
  a.entity_type AS "entityType", a.entity_id AS "entityId",
  left(coalesce(a.metadata->>'name', a.diff->'name'->>1), 200) AS "entityName",
  a.team_id AS "teamId", a.environment_id AS "environmentId", a.commit_sha AS "commitSha", a.created_at AS "createdAt"`;

/**
 * The last events of the viewer's teams, of git in their environments, and of the viewer. Each part is read by its index, so
 * that the page of a small team does not read the log of a large one.
 */
export async function listRecentAudit(db: Knex, viewer: Viewer, limit: number): Promise<RecentAuditEntry[]> {
  const latest = (where: string) =>
    `(SELECT * FROM audit_log l WHERE ${where} ORDER BY l.created_at DESC LIMIT :limit)`;
  const { rows } = await db.raw<{ rows: RecentAuditEntry[] }>(
    viewer.teamIds === null
      ? `SELECT ${AUDIT_COLUMNS} FROM audit_log a ORDER BY a.created_at DESC, a.id DESC LIMIT :limit`
      : `SELECT ${AUDIT_COLUMNS} FROM (
           SELECT l.* FROM unnest(:teamIds::text[]) AS team (id),
             LATERAL ${latest('l.team_id = team.id')} l
           UNION ALL
           SELECT l.* FROM environments e, LATERAL ${latest('l.environment_id = e.id')} l
             WHERE ${VISIBLE} AND l.team_id IS NULL
           UNION ALL
           SELECT l.* FROM ${latest('l.user_id = :userId AND l.team_id IS NULL AND l.environment_id IS NULL')} l
         ) a ORDER BY a.created_at DESC, a.id DESC LIMIT :limit`,
    { ...visibilityOf(viewer), userId: viewer.userId, limit },
  );
  return rows;
}

export async function countAlertRules(
  db: Knex,
  environmentId: string,
): Promise<{ total: number; enabled: number }> {
  const { rows } = await db.raw<{ rows: { total: number; enabled: number }[] }>(
    `SELECT count(*) AS total, count(*) FILTER (WHERE enabled) AS enabled FROM alert_rules
     WHERE environment_id = ? AND tombstoned_at IS NULL`,
    [environmentId],
  );
  return rows[0] ?? { total: 0, enabled: 0 };
}

export interface GitFacts {
  environmentId: string;
  bindingId: string;
  mode: GitMode;
  ref: string;
  path: string;
  suspendedAt: Date | null;
  planWaits: boolean;
  headCommit: CommitInfo | null;
  appliedCommit: CommitInfo | null;
  lastPassAt: Date | null;
  lastError: string | null;
  importErrorCount: number;
  manifests: number;
  /** Deletions that wait for a confirmation. */
  waiting: number;
}

/** By environment; an environment without a binding has no entry. */
export async function readGitFacts(
  db: Knex,
  environmentIds: readonly string[],
): Promise<Map<string, GitFacts>> {
  const { rows } = await db.raw<{ rows: GitFacts[] }>(
    `SELECT b.environment_id AS "environmentId", b.id AS "bindingId", b.mode, b.ref, b.path,
       b.suspended_at AS "suspendedAt", b.waiting_plan IS NOT NULL AS "planWaits", b.head_commit AS "headCommit", b.applied_commit AS "appliedCommit",
       b.last_pass_at AS "lastPassAt", b.last_error AS "lastError", m.manifests, m.waiting,
       (SELECT count(*) FROM git_import_errors i WHERE i.binding_id = b.id) AS "importErrorCount"
     FROM git_bindings b, LATERAL (SELECT count(*) AS manifests, count(*) FILTER (WHERE prune_pending) AS waiting
       FROM git_manifests m WHERE m.binding_id = b.id) m
     WHERE b.environment_id = ANY(?)`,
    [[...environmentIds]],
  );
  return new Map(
    rows.map((row) => [
      row.environmentId,
      { ...row, headCommit: datedCommit(row.headCommit), appliedCommit: datedCommit(row.appliedCommit) },
    ]),
  );
}

export interface ImportErrorRow {
  id: string;
  bindingId: string;
  path: string;
  line: number | null;
  message: string;
}

/** The first import errors of each binding. */
export async function listFirstImportErrors(
  db: Knex,
  bindingIds: readonly string[],
): Promise<ImportErrorRow[]> {
  const { rows } = await db.raw<{ rows: ImportErrorRow[] }>(
    `SELECT i.id, i.binding_id AS "bindingId", i.path, i.line, i.message
     FROM unnest(?::text[]) AS b (id), LATERAL (SELECT * FROM git_import_errors i WHERE i.binding_id = b.id
       ORDER BY i.path, i.line LIMIT ${MAX_PROBLEMS}) i`,
    [[...bindingIds]],
  );
  return rows;
}

/** The last passes of each binding, newest first. */
export async function listLastPasses(
  db: Knex,
  bindingIds: readonly string[],
): Promise<(Pass & { bindingId: string })[]> {
  const { rows } = await db.raw<{ rows: (Pass & { bindingId: string })[] }>(
    `SELECT j.id, j.binding_id AS "bindingId", j.status, j.outcome, j.trigger, j.counts, j.commit_info AS commit,
       j.error, j.queued_at AS "queuedAt", j.finished_at AS "finishedAt"
     FROM unnest(?::text[]) AS b (id), LATERAL (SELECT * FROM git_jobs j WHERE j.binding_id = b.id
       ORDER BY j.seq DESC LIMIT ${MAX_PASSES}) j
     ORDER BY j.seq DESC`,
    [[...bindingIds]],
  );
  return rows.map((row) => ({
    ...row,
    commit: datedCommit(row.commit),
    counts: allCounts(row.counts),
  }));
}
