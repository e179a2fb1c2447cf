/** The table `promotions`. */
import type { Knex } from 'knex';
import type { PromotionStatus } from '../../../schemas/api/delivery/promotions.ts';
import type { PromotionsInsert } from '../../database/tables.gen.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { ManifestSnapshot, Snapshot } from './snapshot/snapshot.ts';

export interface PromotionRecord {
  id: string;
  pipelineId: string | null;
  /** Null once the environment is deleted. */
  sourceEnvironmentId: string | null;
  /** The name at the request, or when the environment was deleted. */
  sourceEnvironmentName: string;
  targetEnvironmentId: string;
  targetPipelineId: string | null;
  pipelineName: string;
  targetName: string;
  status: PromotionStatus;
  sourceVersion: number | null;
  targetVersion: number | null;
  snapshot: Snapshot;
  /** Only for a target that git describes; chosen before the first push. */
  branch: string | null;
  /** The snapshot that the branch holds; null before the first push. */
  written: ManifestSnapshot | null;
  pullRequestId: string | null;
  requestedById: string | null;
  requestedBy: string;
  lastError: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = {
  id: 'id',
  pipelineId: 'pipeline_id',
  sourceEnvironmentId: 'source_environment_id',
  sourceEnvironmentName: 'source_environment_name',
  targetEnvironmentId: 'target_environment_id',
  targetPipelineId: 'target_pipeline_id',
  pipelineName: 'pipeline_name',
  targetName: 'target_name',
  status: 'status',
  sourceVersion: 'source_version',
  targetVersion: 'target_version',
  snapshot: 'snapshot',
  branch: 'branch',
  written: 'written',
  pullRequestId: 'pull_request_id',
  requestedById: 'requested_by_id',
  requestedBy: 'requested_by',
  decidedById: 'decided_by_id',
  decidedBy: 'decided_by',
  note: 'note',
  lastError: 'last_error',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  decidedAt: 'decided_at',
  deployedAt: 'deployed_at',
  silentNodes: 'silent_nodes',
} as const;
const {
  decidedById: _1,
  decidedBy: _2,
  note: _3,
  decidedAt: _4,
  deployedAt: _5,
  silentNodes: _6,
  ...READ
} = COLUMNS;

export const WAITING: readonly PromotionStatus[] = ['PENDING', 'AWAITING_PR_MERGE'];
export const isWaiting = ({ status }: Pick<PromotionRecord, 'status'>): boolean => WAITING.includes(status);

export const findPromotion = async (db: Knex, id: string): Promise<PromotionRecord | null> =>
  (await db('promotions').where({ id }).first(READ)) ?? null;

/** Locks the row until the transaction ends. */
export const lockPromotion = async (tx: Knex, id: string): Promise<PromotionRecord | null> =>
  (await tx('promotions').where({ id }).forUpdate().first(READ)) ?? null;

/** Identifies a promotion among those that wait. */
export interface PromotionKey {
  pipelineId: string;
  targetEnvironmentId: string;
  targetName: string;
}

const selectByKey = (db: Knex, { pipelineId, targetEnvironmentId, targetName }: PromotionKey) =>
  db('promotions')
    .where({ pipeline_id: pipelineId, target_environment_id: targetEnvironmentId })
    .whereRaw('lower(target_name) = lower(?)', [targetName]);

/** At most one promotion of a key waits. */
export const findWaiting = async (db: Knex, key: PromotionKey): Promise<PromotionRecord | null> =>
  (await selectByKey(db, key).whereIn('status', WAITING).first(READ)) ?? null;

/** The last snapshot of this key that was deployed through git. */
export async function findLastPromoted(db: Knex, key: PromotionKey): Promise<ManifestSnapshot | null> {
  const row: { snapshot: ManifestSnapshot } | undefined = await selectByKey(db, key)
    .where({ status: 'DEPLOYED' })
    .whereRaw("snapshot->>'form' = 'manifest'")
    .orderBy('deployed_at', 'desc')
    .first('snapshot');
  return row?.snapshot ?? null;
}

/** Existing pipelines of the target to which the source was promoted before, the latest first. */
export async function listEarlierTargets(
  db: Knex,
  { pipelineId, targetEnvironmentId }: Omit<PromotionKey, 'targetName'>,
): Promise<{ id: string; name: string }[]> {
  return db('promotions as o')
    .join('pipelines as p', 'p.id', 'o.target_pipeline_id')
    .where({
      'o.pipeline_id': pipelineId,
      'o.target_environment_id': targetEnvironmentId,
      'o.status': 'DEPLOYED',
      'p.environment_id': targetEnvironmentId,
      'p.tombstoned_at': null,
    })
    .orderBy('o.deployed_at', 'desc')
    .limit(50)
    .select({ id: 'p.id', name: 'p.name' });
}

export type NewPromotion = Pick<
  PromotionRecord,
  | 'sourceEnvironmentId'
  | 'sourceEnvironmentName'
  | 'targetEnvironmentId'
  | 'pipelineName'
  | 'targetName'
  | 'status'
  | 'sourceVersion'
  | 'snapshot'
  | 'requestedById'
  | 'requestedBy'
> & { pipelineId: string };

/** Null where a promotion of the same key already waits. */
export async function insertPromotion(
  tx: Knex,
  promotion: NewPromotion & Partial<PromotionChange>,
): Promise<string | null> {
  const rows = await tx('promotions')
    .insert({
      id: newId(),
      pipeline_id: promotion.pipelineId,
      source_environment_id: promotion.sourceEnvironmentId,
      source_environment_name: promotion.sourceEnvironmentName,
      target_environment_id: promotion.targetEnvironmentId,
      pipeline_name: promotion.pipelineName,
      ...columnsOf(promotion),
    } as PromotionsInsert)
    .onConflict()
    .ignore()
    .returning('id');
  return rows[0]?.id ?? null;
}

export interface PromotionChange
  extends Pick<
    PromotionRecord,
    | 'targetPipelineId'
    | 'targetName'
    | 'status'
    | 'sourceVersion'
    | 'targetVersion'
    | 'snapshot'
    | 'branch'
    | 'written'
    | 'pullRequestId'
    | 'requestedById'
    | 'requestedBy'
    | 'lastError'
  > {
  decidedById: string | null;
  decidedBy: string | null;
  note: string | null;
  decidedAt: Date | Knex.Raw | null;
  deployedAt: Date | null;
  /** Names of nodes that did not answer when it was deployed. */
  silentNodes: string[];
}

const IMMUTABLE_FIELDS = [
  'pipelineId',
  'sourceEnvironmentId',
  'sourceEnvironmentName',
  'targetEnvironmentId',
  'pipelineName',
];

const columnsOf = (change: Partial<PromotionChange>) =>
  Object.fromEntries(
    Object.entries(change)
      .filter(([field, value]) => value !== undefined && !IMMUTABLE_FIELDS.includes(field))
      .map(([field, value]) => [
        COLUMNS[field as keyof typeof COLUMNS],
        value !== null && (field === 'snapshot' || field === 'written') ? JSON.stringify(value) : value,
      ]),
  );

export async function updatePromotion(tx: Knex, id: string, change: Partial<PromotionChange>): Promise<void> {
  await tx('promotions')
    .where({ id })
    .update({ ...columnsOf(change), updated_at: tx.fn.now() });
}

/** Limit of `lastError`. */
export const MAX_ERROR_CHARACTERS = 2_000;

/** Only while the promotion waits. Returns whether the error changed. */
export async function recordError(db: Knex, id: string, lastError: string | null): Promise<boolean> {
  const changed = await db('promotions')
    .where({ id })
    .whereIn('status', WAITING)
    .whereRaw('last_error IS DISTINCT FROM ?', [lastError])
    .update({ last_error: lastError, updated_at: db.fn.now() });
  return changed > 0;
}

/** Deletes a promotion whose branch was never pushed. */
export async function deleteUnwritten(db: Knex, id: string): Promise<void> {
  await db('promotions')
    .where({ id, status: 'AWAITING_PR_MERGE', pull_request_id: null, written: null })
    .delete();
}

/** Promotions that wait for their pull request, and cancelled ones whose pull request was reopened. */
export async function listAwaitingMerge(db: Knex): Promise<{ id: string; targetEnvironmentId: string }[]> {
  return db('promotions as o')
    .leftJoin('pull_requests as p', 'p.id', 'o.pull_request_id')
    .where({ 'o.status': 'AWAITING_PR_MERGE' })
    .orWhere((ended) =>
      ended.where({ 'o.status': 'CANCELLED', 'p.state': 'open' }).whereRaw('p.reopened_at > o.decided_at'),
    )
    .orderBy('o.id')
    .select({ id: 'o.id', targetEnvironmentId: 'o.target_environment_id' });
}

/** The pull request of a cancelled promotion that was reopened after the cancellation; else null. */
export async function findReopened(db: Knex, id: string): Promise<{ number: number } | null> {
  const row: { number: number } | undefined = await db('promotions as o')
    .join('pull_requests as p', 'p.id', 'o.pull_request_id')
    .where({ 'o.id': id, 'o.status': 'CANCELLED', 'p.state': 'open' })
    .whereRaw("p.reopened_at > o.decided_at AND p.subject->>'promotionId' = o.id")
    .whereRaw(
      "p.base = p.subject->>'base' AND o.source_environment_id IS NOT NULL AND o.pipeline_id IS NOT NULL",
    )
    .first({ number: 'p.number' });
  return row ?? null;
}
