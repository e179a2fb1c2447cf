/** Stores migrations of teams. The original is sealed; its blocks are stored without their text. */
import type { Knex } from 'knex';
import type { MigrationStatus, MigrationValidation } from '../../../schemas/api/pipelines/migrations.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';
import type { ConfigProblem } from './fluentd/config-tree.ts';
import type { BlockConnection } from './fluentd/index.ts';
import type { StoredBlock } from './original/block-text.ts';
import type { BlockTranslation } from './translation.ts';

/** As JSON holds it. */
export type StoredValidation = Omit<MigrationValidation, 'at'> & { at: string };

/** With the way in which the block is connected, whatever stands for it. */
export type StoredTranslation = BlockTranslation & { connection: BlockConnection };

export interface GeneratedRecord {
  pipelineName: string;
  by: string;
  at: Date;
  environmentId: string | null;
  pipelineId: string | null;
  pullRequest: { number: number; url: string | null; state: 'open' | 'merged' | 'closed' } | null;
}

export interface SummaryRecord {
  id: string;
  teamId: string;
  name: string;
  platform: 'FLUENTD';
  status: MigrationStatus;
  bytes: number;
  blockCount: number;
  translatedCount: number;
  openCount: number;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
  generated: GeneratedRecord | null;
}

export interface MigrationRecord extends SummaryRecord {
  sealedOriginal: string;
  blocks: StoredBlock[];
  problems: ConfigProblem[];
  translations: StoredTranslation[];
  validation: StoredValidation | null;
  revision: number;
}

type Row = Omit<MigrationRecord, 'generated'> &
  Omit<GeneratedRecord, 'pipelineName' | 'by' | 'at'> & {
    generatedName: string | null;
    generatedBy: string | null;
    generatedAt: Date | null;
  };

const SUMMARY = `m.id, m.team_id AS "teamId", m.name, m.platform, m.status, m.bytes,
  jsonb_array_length(m.blocks) AS "blockCount", jsonb_array_length(m.translations) AS "translatedCount",
  (SELECT count(*)::int FROM jsonb_array_elements(m.translations) t WHERE t ->> 'status' = 'open') AS "openCount",
  m.created_by AS "createdBy", m.created_at AS "createdAt", m.updated_at AS "updatedAt", m.generated_name AS "generatedName",
  m.generated_by AS "generatedBy", m.generated_at AS "generatedAt", m.environment_id AS "environmentId",
  coalesce(p.id, n.id) AS "pipelineId", CASE WHEN q.id IS NULL THEN NULL
    ELSE jsonb_build_object('number', q.number, 'url', q.url, 'state', q.state) END AS "pullRequest"`;
/** `n`: what a merged pull request has brought. */
const FROM = `FROM config_migrations m LEFT JOIN pull_requests q ON q.id = m.pull_request_id
  LEFT JOIN pipelines p ON p.id = m.pipeline_id AND p.tombstoned_at IS NULL
  LEFT JOIN pipelines n ON n.environment_id = m.environment_id AND lower(n.name) = lower(m.generated_name)
    AND n.tombstoned_at IS NULL AND q.state = 'merged'
  WHERE m.team_id = :teamId`;

export async function listMigrations(db: Knex, teamId: string, limit: number): Promise<SummaryRecord[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT ${SUMMARY} ${FROM} ORDER BY m.created_at DESC, m.id DESC LIMIT :limit`,
    { teamId, limit },
  );
  return rows.map(toRecord);
}

const WHOLE = `${SUMMARY}, m.sealed_original AS "sealedOriginal", m.blocks, m.problems, m.translations, m.validation, m.revision`;

export async function findMigration(db: Knex, teamId: string, id: string): Promise<MigrationRecord | null> {
  const { rows } = await db.raw<{ rows: Row[] }>(`SELECT ${WHOLE} ${FROM} AND m.id = :id`, { teamId, id });
  return rows[0] ? toRecord(rows[0]) : null;
}

/** Locks the row until the transaction ends; null where it is gone. */
export async function lockMigration(tx: Knex, teamId: string, id: string): Promise<MigrationRecord | null> {
  await tx('config_migrations').where({ id, team_id: teamId }).forUpdate().first('id');
  return findMigration(tx, teamId, id);
}

function toRecord({
  generatedName,
  generatedBy,
  generatedAt,
  environmentId,
  pipelineId,
  pullRequest,
  ...row
}: Row): MigrationRecord {
  const generated =
    generatedName === null || generatedBy === null || generatedAt === null
      ? null
      : {
          ...{ pipelineName: generatedName, by: generatedBy, at: generatedAt },
          ...{ environmentId, pipelineId, pullRequest },
        };
  return { ...row, generated };
}

export async function countMigrations(tx: Knex, teamId: string): Promise<number> {
  const row = await tx('config_migrations').where({ team_id: teamId }).count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

export interface NewMigration {
  id: string;
  teamId: string;
  name: string;
  platform: 'FLUENTD';
  sealedOriginal: string;
  bytes: number;
  createdBy: string;
  at: Date;
}

/** @throws CONFLICT for a name that is taken */
export async function insertMigration(tx: Knex, migration: NewMigration): Promise<void> {
  await tx('config_migrations')
    .insert({
      id: migration.id,
      team_id: migration.teamId,
      name: migration.name,
      platform: migration.platform,
      sealed_original: migration.sealedOriginal,
      bytes: migration.bytes,
      created_by: migration.createdBy,
      created_at: migration.at,
      updated_at: migration.at,
    })
    .catch((error: unknown) => {
      throw brokeUnique(error, 'config_migrations_name_unique')
        ? conflict(`A migration named "${migration.name}" exists already in this team; choose another name`)
        : error;
    });
}

export type MigrationChange = Partial<
  Pick<MigrationRecord, 'status' | 'blocks' | 'problems' | 'translations' | 'validation'>
>;

export async function updateMigration(
  tx: Knex,
  id: string,
  change: MigrationChange,
  at: Date,
): Promise<void> {
  const { status, blocks, problems, translations, validation } = change;
  await tx('config_migrations')
    .where({ id })
    .update({
      ...(status === undefined ? {} : { status }),
      ...(blocks === undefined ? {} : { blocks: JSON.stringify(blocks) }),
      ...(problems === undefined ? {} : { problems: JSON.stringify(problems) }),
      ...(translations === undefined ? {} : { translations: JSON.stringify(translations) }),
      ...(validation === undefined ? {} : { validation: validation && JSON.stringify(validation) }),
      revision: tx.raw('revision + 1'),
      updated_at: at,
    });
}

export interface Generation {
  pipelineName: string;
  environmentId: string;
  pipelineId: string | null;
  pullRequestId: string | null;
  by: string;
  at: Date;
}

export async function recordGeneration(tx: Knex, id: string, generation: Generation): Promise<void> {
  await tx('config_migrations')
    .where({ id })
    .update({
      status: 'GENERATED',
      generated_name: generation.pipelineName,
      generated_by: generation.by,
      generated_at: generation.at,
      environment_id: generation.environmentId,
      pipeline_id: generation.pipelineId,
      pull_request_id: generation.pullRequestId,
      revision: tx.raw('revision + 1'),
      updated_at: generation.at,
    });
}

/** Returns its name; null if there is none. */
export async function deleteMigration(tx: Knex, teamId: string, id: string): Promise<string | null> {
  const [row]: { name: string }[] = await tx('config_migrations')
    .where({ id, team_id: teamId })
    .delete()
    .returning('name');
  return row?.name ?? null;
}

export async function pipelineExists(db: Knex, environmentId: string, name: string): Promise<boolean> {
  const row = await db('pipelines')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .whereRaw('lower(name) = lower(?)', [name])
    .first('id');
  return row !== undefined;
}
