/** Rows of the audit log, with and without a number. */
import type { Knex } from 'knex';
import type { AuditEvent } from '../../../schemas/api/insight/audit.ts';
import { readSetting, writeSetting } from '../../platform/runtime/settings-store.ts';
import { type ChainedEvent, type ChainKey, type ChainLink, GENESIS, macOf } from './chain/chain.ts';

export type UnnumberedEvent = Omit<AuditEvent, 'seq' | 'prevHash' | 'hash'>;

const FACT_COLUMNS = [
  ...['id', 'actor_type AS "actorType"', 'user_id AS "userId"', 'user_email AS "userEmail"', 'action'],
  ...['entity_type AS "entityType"', 'entity_id AS "entityId"', 'diff', 'metadata'],
  ...['ip_address AS "ipAddress"', 'team_id AS "teamId"', 'environment_id AS "environmentId"'],
  ...['commit_sha AS "commitSha"', 'created_at AS "createdAt"'],
];
/** The columns of an `AuditEvent`, with its property names. */
export const EVENT_COLUMNS: readonly string[] = [...FACT_COLUMNS, 'seq', 'prev_hash AS "prevHash"', 'hash'];
const FACTS = FACT_COLUMNS.join(', ');
const COLUMNS = EVENT_COLUMNS.join(', ');
/** The head is stored outside the log, so that rows that are deleted from the end leave a trace. */
const HEAD = 'auditHead';

/** The last link of the chain, even if its row is gone. */
export async function readHead(db: Knex): Promise<ChainLink> {
  const stored = (await readSetting<ChainLink>(db, HEAD)) ?? GENESIS;
  const { rows } = await db.raw<{ rows: ChainLink[] }>(
    'SELECT seq, hash FROM audit_log WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1',
  );
  const last = rows[0];
  return last && last.seq > stored.seq ? last : stored;
}

/** Whether the last numbered event has a MAC. */
export async function hasKeyedHead(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { mac: string | null }[] }>(
    'SELECT mac FROM audit_log WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1',
  );
  return rows[0]?.mac != null;
}

export async function anyUnnumbered(db: Knex): Promise<boolean> {
  return (await db('audit_log').whereNull('seq').first('id')) !== undefined;
}

/** In the order of numbering: oldest first, events of one transaction in the order in which they were written. */
export async function readUnnumbered(db: Knex, limit: number): Promise<UnnumberedEvent[]> {
  const { rows } = await db.raw<{ rows: UnnumberedEvent[] }>(
    `SELECT ${FACTS} FROM audit_log WHERE seq IS NULL ORDER BY created_at, id LIMIT ?`,
    [limit],
  );
  return rows;
}

/** `events` follow the head without a gap. */
export async function appendToChain(tx: Knex, key: ChainKey, events: readonly AuditEvent[]): Promise<void> {
  const last = events.at(-1);
  if (!last) return;
  await tx.raw(
    `UPDATE audit_log a SET seq = v.seq, prev_hash = v.prev_hash, hash = v.hash, mac = v.mac
     FROM unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[]) AS v (id, seq, prev_hash, hash, mac) WHERE a.id = v.id`,
    [
      events.map(({ id }) => id),
      events.map(({ seq }) => seq),
      events.map(({ prevHash }) => prevHash),
      events.map(({ hash }) => hash),
      events.map((event) => macOf(key, 'event', event)),
    ],
  );
  await writeSetting(tx, HEAD, { seq: last.seq, hash: last.hash });
}

/** A part of the chain after a number. */
export async function readChain(db: Knex, after: number, limit: number): Promise<ChainedEvent[]> {
  const { rows } = await db.raw<{ rows: (AuditEvent & { mac: string | null })[] }>(
    `SELECT ${COLUMNS}, mac FROM audit_log WHERE seq > ? ORDER BY seq LIMIT ?`,
    [after, limit],
  );
  return rows.map(({ mac, ...event }) => ({ event, mac }));
}

/** Numbered events of one environment, ascending. */
export async function listAfter(
  db: Knex,
  filter: { environmentId: string; after: number; action?: string; limit: number },
): Promise<AuditEvent[]> {
  const { rows } = await db.raw<{ rows: AuditEvent[] }>(
    `SELECT ${COLUMNS} FROM audit_log
     WHERE environment_id = :environmentId AND seq > :after AND (:action::text IS NULL OR action = :action)
     ORDER BY seq LIMIT :limit`,
    { ...filter, action: filter.action ?? null },
  );
  return rows;
}
