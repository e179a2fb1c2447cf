/** Stores streams: what they send where, and how far they have come. */
import type { Knex } from 'knex';
import type { StreamKind, StreamSource } from '../../../schemas/api/insight/event-streams.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';

export interface StreamRecord {
  id: string;
  name: string;
  source: StreamSource;
  kind: StreamKind;
  url: string;
  sealedHeaders: string | null;
  headerNames: string[];
  sealedSigningSecret: string | null;
  enabled: boolean;
  cursor: number;
  batchEnd: number | null;
  delivered: number;
  lastDeliveredAt: Date | null;
  lastError: string | null;
  lastErrorAt: Date | null;
  failures: number;
  missed: number;
  missedReason: string | null;
  missedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = {
  id: 'id',
  name: 'name',
  source: 'source',
  kind: 'kind',
  url: 'url',
  sealedHeaders: 'sealed_headers',
  headerNames: 'header_names',
  sealedSigningSecret: 'sealed_signing_secret',
  enabled: 'enabled',
  cursor: 'cursor',
  batchEnd: 'batch_end',
  delivered: 'delivered',
  lastDeliveredAt: 'last_delivered_at',
  lastError: 'last_error',
  lastErrorAt: 'last_error_at',
  failures: 'failures',
  missed: 'missed',
  missedReason: 'missed_reason',
  missedAt: 'missed_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const;

export const listStreams = (db: Knex): Promise<StreamRecord[]> =>
  db('event_streams').orderByRaw('lower(name)').select(COLUMNS);

export async function findStream(db: Knex, id: string): Promise<StreamRecord | null> {
  return (await db('event_streams').where({ id }).first(COLUMNS)) ?? null;
}

/** Locks the row until the transaction ends. */
export async function lockStream(tx: Knex, id: string): Promise<StreamRecord | null> {
  return (await tx('event_streams').where({ id }).forUpdate().first(COLUMNS)) ?? null;
}

export const listEnabledIds = (db: Knex): Promise<string[]> =>
  db('event_streams').where({ enabled: true }).pluck('id');

/** Creations wait for each other, so that their number is kept. */
export async function countStreams(tx: Knex): Promise<number> {
  await tx.raw(`LOCK TABLE event_streams IN SHARE ROW EXCLUSIVE MODE`);
  const row = await tx('event_streams').count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

export type StreamSettings = Pick<
  StreamRecord,
  'name' | 'url' | 'sealedHeaders' | 'headerNames' | 'sealedSigningSecret' | 'enabled'
>;

const settingColumns = (settings: StreamSettings) => ({
  name: settings.name,
  url: settings.url,
  sealed_headers: settings.sealedHeaders,
  header_names: JSON.stringify(settings.headerNames),
  sealed_signing_secret: settings.sealedSigningSecret,
  enabled: settings.enabled,
});

const toConflict = (error: unknown, name: string): unknown =>
  brokeUnique(error, 'event_streams_name_unique')
    ? conflict(`A stream named "${name}" exists already; choose another name`)
    : error;

/** @throws CONFLICT for a name that is taken */
export async function insertStream(
  tx: Knex,
  {
    id,
    source,
    kind,
    cursor,
    ...settings
  }: StreamSettings & Pick<StreamRecord, 'id' | 'source' | 'kind' | 'cursor'>,
): Promise<void> {
  await tx('event_streams')
    .insert({ id, source, kind, cursor, ...settingColumns(settings) })
    .catch((error: unknown) => {
      throw toConflict(error, settings.name);
    });
}

/** What has failed before is tried again at once. @throws CONFLICT for a name that is taken */
export async function updateStream(tx: Knex, id: string, settings: StreamSettings): Promise<void> {
  await tx('event_streams')
    .where({ id })
    .update({ ...settingColumns(settings), failures: 0, updated_at: tx.fn.now() })
    .catch((error: unknown) => {
      throw toConflict(error, settings.name);
    });
}

export async function deleteStream(tx: Knex, id: string): Promise<void> {
  await tx('event_streams').where({ id }).delete();
}

/** Which entries the batch has that begins behind the cursor: after a restart the same are sent again. */
export async function beginBatch(
  tx: Knex,
  { id, cursor }: Pick<StreamRecord, 'id' | 'cursor'>,
  batchEnd: number,
): Promise<void> {
  await tx('event_streams').where({ id, cursor }).update({ batch_end: batchEnd });
}

export interface Taken {
  /** The position of the last entry. */
  through: number;
  entries: number;
  at: Date;
  missed: { entries: number; reason: string } | null;
}

/** Moves the cursor, unless another controller has moved it. */
export async function advance(
  tx: Knex,
  { id, cursor }: Pick<StreamRecord, 'id' | 'cursor'>,
  { through, entries, at, missed }: Taken,
): Promise<void> {
  await tx('event_streams')
    .where({ id, cursor })
    .update({
      ...{ cursor: through, batch_end: null, last_delivered_at: at, failures: 0 },
      ...{ last_error: null, last_error_at: null },
      delivered: tx.raw('delivered + ?', [entries]),
      ...(missed
        ? {
            missed: tx.raw('missed + ?', [missed.entries]),
            ...{ missed_reason: missed.reason, missed_at: at },
          }
        : {}),
    });
}

export async function recordFailure(
  tx: Knex,
  { id, cursor }: Pick<StreamRecord, 'id' | 'cursor'>,
  { error, at }: { error: string; at: Date },
): Promise<void> {
  await tx('event_streams')
    .where({ id, cursor })
    .update({ last_error: error, last_error_at: at, failures: tx.raw('failures + 1') });
}
