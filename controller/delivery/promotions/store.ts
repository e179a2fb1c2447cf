/** Requests to bring a pipeline from one environment into another. */
import type { Knex } from 'knex';
import type { PromotionStatus } from '../../../schemas/api/promotions.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { ManifestSnapshot, Snapshot } from './snapshot/snapshot.ts';

export interface PromotionRecord {
  id: string;
  pipelineId: string | null;
  /** Null once it was deleted. */
  sourceEnvironmentId: string | null;
  /** When it was asked for, or when the environment was deleted. */
  sourceEnvironmentName: string;
  targetEnvironmentId: string;
  targetPipelineId: string | null;
  pipelineName: string;
  targetName: string;
  status: PromotionStatus;
  sourceVersion: number | null;
  targetVersion: number | null;
  snapshot: Snapshot;
  /** Of one that goes through git; chosen before anything is pushed. */
  branch: string | null;
  /** What the branch holds of the source; null until it was pushed. */
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

/** Locked until the transaction ends. */
export const lockPromotion = async (tx: Knex, id: string): Promise<PromotionRecord | null> =>
  (await tx('promotions').where({ id }).forUpdate().first(READ)) ?? null;

/** What says that two requests are for the same. */
export interface Wanted {
  pipelineId: string;
  targetEnvironmentId: string;
  targetName: string;
}

const sameAs = (db: Knex, { pipelineId, targetEnvironmentId, targetName }: Wanted) =>
  db('promotions')
    .where({ pipeline_id: pipelineId, target_environment_id: targetEnvironmentId })
    .whereRaw('lower(target_name) = lower(?)', [targetName]);

/** The one for the same that waits. */
export const findWaiting = async (db: Knex, wanted: Wanted): Promise<PromotionRecord | null> =>
  (await sameAs(db, wanted).whereIn('status', WAITING).first(READ)) ?? null;

/** What came in last of the same, through git. */
export async function lastPromoted(db: Knex, wanted: Wanted): Promise<ManifestSnapshot | null> {
  const row: { snapshot: ManifestSnapshot } | undefined = await sameAs(db, wanted)
    .where({ status: 'DEPLOYED' })
    .whereRaw("snapshot->>'form' = 'manifest'")
    .orderBy('deployed_at', 'desc')
    .first('snapshot');
  return row?.snapshot ?? null;
}

/** Living pipelines of the target that the source became before, the newest first. */
export async function earlierTargets(
  db: Knex,
  { pipelineId, targetEnvironmentId }: Omit<Wanted, 'targetName'>,
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

/** Null where another one for the same waits already. */
export async function insertPromotion(
  tx: Knex,
  made: NewPromotion & Partial<PromotionChange>,
): Promise<string | null> {
  const rows = await tx('promotions')
    .insert({
      id: newId(),
      pipeline_id: made.pipelineId,
      source_environment_id: made.sourceEnvironmentId,
      source_environment_name: made.sourceEnvironmentName,
      target_environment_id: made.targetEnvironmentId,
      pipeline_name: made.pipelineName,
      ...columnsOf(made),
    })
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

const NOT_TO_CHANGE = [
  'pipelineId',
  'sourceEnvironmentId',
  'sourceEnvironmentName',
  'targetEnvironmentId',
  'pipelineName',
];

const columnsOf = (change: Partial<PromotionChange>) =>
  Object.fromEntries(
    Object.entries(change)
      .filter(([field, value]) => value !== undefined && !NOT_TO_CHANGE.includes(field))
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

/** Where it waits on, and says something else. */
export async function recordError(db: Knex, id: string, lastError: string | null): Promise<boolean> {
  const changed = await db('promotions')
    .where({ id })
    .whereIn('status', WAITING)
    .whereRaw('last_error IS DISTINCT FROM ?', [lastError])
    .update({ last_error: lastError, updated_at: db.fn.now() });
  return changed > 0;
}

/** One of which nothing has left this place. */
export async function forgetPromotion(db: Knex, id: string): Promise<void> {
  await db('promotions')
    .where({ id, status: 'AWAITING_PR_MERGE', pull_request_id: null, written: null })
    .delete();
}

/** Those that wait for their pull request, and those that ended with one that is open again. */
export async function listAwaiting(db: Knex): Promise<{ id: string; targetEnvironmentId: string }[]> {
  return db('promotions as o')
    .leftJoin('pull_requests as p', 'p.id', 'o.pull_request_id')
    .where({ 'o.status': 'AWAITING_PR_MERGE' })
    .orWhere((ended) =>
      ended.where({ 'o.status': 'CANCELLED', 'p.state': 'open' }).whereRaw('p.reopened_at > o.decided_at'),
    )
    .orderBy('o.id')
    .select({ id: 'o.id', targetEnvironmentId: 'o.target_environment_id' });
}

/** Of one that ended, and whose pull request was opened again after that; null for any other. */
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
