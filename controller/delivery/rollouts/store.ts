/** Rollouts: which version some nodes of a pipeline get first, how they do, and how it ended. One a pipeline is active. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { RolloutStatus, RolloutVerdict } from '../../../schemas/api/delivery/rollouts.ts';
import type { Observed } from './decision/observe-nodes.ts';

/** A condition on the column, for the queries of others too; the partial index `rollouts_one_active` answers it. */
export const ACTIVE_ROLLOUT = "status IN ('CANARY_DEPLOYED', 'HEALTH_CHECK')";

/**
 * After `FROM pipelines p`: the versions that nodes get of each, as `served`; two while a rollout is active. None of a
 * pipeline that was never deployed.
 */
export const SERVED_VERSIONS = `LEFT JOIN rollouts r ON r.pipeline_id = p.id AND r.${ACTIVE_ROLLOUT}
  CROSS JOIN LATERAL (VALUES (p.deployed_version_id, false), (r.canary_version_id, true)) served (version_id, is_canary)`;

/** A condition on pipelines `p` and environments `e`: a version that does not run on a node is taken back there. */
export const AUTO_REVERTS = `coalesce(p.auto_revert, (SELECT (b.manifest_policy->>'autoRevert')::boolean
  FROM git_bindings b WHERE b.environment_id = e.id AND b.mode <> 'off'), e.auto_revert)`;

export interface RolloutRecord {
  id: string;
  pipelineId: string;
  environmentId: string;
  status: RolloutStatus;
  canarySelector: LabelMap;
  windowMinutes: number;
  onPass: 'broaden' | 'hold';
  onFail: 'rollback' | 'hold';
  changelog: string;
  source: 'ui' | 'git';
  commit: string | null;
  canaryVersionId: string;
  canaryVersion: number;
  /** Of the canary version: outside of it no canary node runs anything. */
  canaryNodeSelector: LabelMap | null;
  /** The manifest's hash where git made the canary version. */
  canarySpecHash: string | null;
  previousVersionId: string | null;
  previousVersion: number | null;
  previousNodeSelector: LabelMap | null;
  createdBy: string;
  createdAt: Date;
  healthStartedAt: Date | null;
  observed: Partial<Observed>;
  verdict: RolloutVerdict | null;
  heldReason: string | null;
  endedAt: Date | null;
  endedBy: string | null;
  endReason: string | null;
}

export const isActive = ({ status }: Pick<RolloutRecord, 'status'>): boolean =>
  status === 'CANARY_DEPLOYED' || status === 'HEALTH_CHECK';

const SELECT = `SELECT r.id, r.pipeline_id AS "pipelineId", r.environment_id AS "environmentId", r.status,
    r.canary_selector AS "canarySelector", r.window_minutes AS "windowMinutes", r.on_pass AS "onPass", r.on_fail AS "onFail",
    r.changelog, r.source, r.commit_sha AS commit, r.canary_version_id AS "canaryVersionId", c.version AS "canaryVersion",
    c.node_selector AS "canaryNodeSelector", c.spec_hash AS "canarySpecHash", r.previous_version_id AS "previousVersionId",
    p.version AS "previousVersion", p.node_selector AS "previousNodeSelector", r.created_by AS "createdBy",
    r.created_at AS "createdAt", r.health_started_at AS "healthStartedAt", r.observed, r.verdict,
    r.held_reason AS "heldReason", r.ended_at AS "endedAt", r.ended_by AS "endedBy", r.end_reason AS "endReason"
  FROM rollouts r JOIN pipeline_versions c ON c.id = r.canary_version_id
    LEFT JOIN pipeline_versions p ON p.id = r.previous_version_id`;

/** Stored as JSON, where times are text. */
const dated = (row: RolloutRecord): RolloutRecord => ({
  ...row,
  verdict: row.verdict && { ...row.verdict, at: new Date(row.verdict.at) },
});

async function select(
  db: Knex,
  where: string,
  values: readonly (string | number)[],
): Promise<RolloutRecord[]> {
  const { rows } = await db.raw<{ rows: RolloutRecord[] }>(`${SELECT} WHERE ${where}`, [...values]);
  return rows.map(dated);
}

export async function findRollout(db: Knex, id: string): Promise<RolloutRecord | null> {
  return (await select(db, 'r.id = ?', [id]))[0] ?? null;
}

/** Cannot change until the transaction ends where the pipeline's row is locked: that row is locked before a rollout ends. */
export async function findActiveRollout(db: Knex, pipelineId: string): Promise<RolloutRecord | null> {
  return (await select(db, `r.pipeline_id = ? AND r.${ACTIVE_ROLLOUT}`, [pipelineId]))[0] ?? null;
}

/** Newest first. */
export const listRollouts = (db: Knex, pipelineId: string, limit: number): Promise<RolloutRecord[]> =>
  select(db, 'r.pipeline_id = ? ORDER BY r.created_at DESC, r.id DESC LIMIT ?', [pipelineId, limit]);

/** Ids of all, of every environment. */
export async function listActiveRollouts(db: Knex): Promise<string[]> {
  return db('rollouts').whereRaw(ACTIVE_ROLLOUT).orderBy('created_at').pluck('id');
}

export interface NewRollout {
  id: string;
  pipelineId: string;
  environmentId: string;
  previousVersionId: string | null;
  canaryVersionId: string;
  canarySelector: LabelMap;
  windowMinutes: number;
  onPass: 'broaden' | 'hold';
  onFail: 'rollback' | 'hold';
  changelog: string;
  source: 'ui' | 'git';
  commit: string | null;
  createdById: string | null;
  createdBy: string;
  createdAt: Date;
}

export async function insertRollouts(tx: Knex, rollouts: readonly NewRollout[]): Promise<void> {
  await tx('rollouts').insert(
    rollouts.map((rollout) => ({
      id: rollout.id,
      pipeline_id: rollout.pipelineId,
      environment_id: rollout.environmentId,
      previous_version_id: rollout.previousVersionId,
      canary_version_id: rollout.canaryVersionId,
      canary_selector: JSON.stringify(rollout.canarySelector),
      window_minutes: rollout.windowMinutes,
      on_pass: rollout.onPass,
      on_fail: rollout.onFail,
      status: 'CANARY_DEPLOYED',
      changelog: rollout.changelog,
      source: rollout.source,
      commit_sha: rollout.commit,
      created_by_id: rollout.createdById,
      created_by: rollout.createdBy,
      created_at: rollout.createdAt,
    })),
  );
}

export interface Ended {
  pipelineId: string;
  status: 'BROADENED' | 'ROLLED_BACK';
  /** What ended it, as a sentence. */
  reason: string;
}

/** The active ones of these pipelines; answers their ids. Those that have ended stay as they ended. */
export async function endRollouts(
  tx: Knex,
  ended: readonly Ended[],
  { by, at }: { by: string; at: Date },
): Promise<string[]> {
  const { rows } = await tx.raw<{ rows: { id: string }[] }>(
    `UPDATE rollouts r SET status = e.status, end_reason = e.reason, ended_by = ?, ended_at = ?, held_reason = NULL,
       updated_at = now()
     FROM unnest(?::text[], ?::text[], ?::text[]) AS e(pipeline_id, status, reason)
     WHERE r.pipeline_id = e.pipeline_id AND r.${ACTIVE_ROLLOUT} RETURNING r.id`,
    [
      by,
      at,
      ended.map(({ pipelineId }) => pipelineId),
      ended.map(({ status }) => status),
      ended.map(({ reason }) => reason),
    ],
  );
  return rows.map(({ id }) => id);
}

export type Carried = Pick<
  NewRollout,
  | 'pipelineId'
  | 'canaryVersionId'
  | 'canarySelector'
  | 'windowMinutes'
  | 'onPass'
  | 'onFail'
  | 'changelog'
  | 'commit'
>;

/** The active rollouts of these pipelines go on with another version that gives nodes the same, and with what git says of them now. */
export async function carryRollouts(tx: Knex, carried: readonly Carried[]): Promise<void> {
  const rows = carried.map((rollout) => ({
    pipeline_id: rollout.pipelineId,
    canary_version_id: rollout.canaryVersionId,
    canary_selector: rollout.canarySelector,
    window_minutes: rollout.windowMinutes,
    on_pass: rollout.onPass,
    on_fail: rollout.onFail,
    changelog: rollout.changelog,
    commit_sha: rollout.commit,
  }));
  await tx.raw(
    `UPDATE rollouts r SET canary_version_id = c.canary_version_id, canary_selector = c.canary_selector,
       window_minutes = c.window_minutes, on_pass = c.on_pass, on_fail = c.on_fail, changelog = c.changelog,
       commit_sha = c.commit_sha, updated_at = now()
     FROM jsonb_to_recordset(?::jsonb) AS c(pipeline_id text, canary_version_id text, canary_selector jsonb,
       window_minutes integer, on_pass text, on_fail text, changelog text, commit_sha text)
     WHERE r.pipeline_id = c.pipeline_id AND r.${ACTIVE_ROLLOUT}`,
    [JSON.stringify(rows)],
  );
}

/** False where it has begun already, or the rollout has ended. */
export async function beginHealthCheck(
  tx: Knex,
  id: string,
  { at, observed, verdict }: { at: Date; observed: Observed; verdict: RolloutVerdict },
): Promise<boolean> {
  const count = await tx('rollouts')
    .where({ id, status: 'CANARY_DEPLOYED' })
    .update({
      status: 'HEALTH_CHECK',
      health_started_at: at,
      observed: JSON.stringify(observed),
      verdict: JSON.stringify(verdict),
      held_reason: null,
      updated_at: tx.fn.now(),
    });
  return count > 0;
}

/** False where the rollout is not in that status any more: then nothing is written. */
export async function saveObserved(
  tx: Knex,
  { id, status }: Pick<RolloutRecord, 'id' | 'status'>,
  seen: { observed: Observed; verdict: RolloutVerdict | null; heldReason: string | null },
): Promise<boolean> {
  const count = await tx('rollouts')
    .where({ id, status })
    .update({
      observed: JSON.stringify(seen.observed),
      verdict: seen.verdict && JSON.stringify(seen.verdict),
      held_reason: seen.heldReason,
      updated_at: tx.fn.now(),
    });
  return count > 0;
}
