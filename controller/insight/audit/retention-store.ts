/** Deletes the oldest part of the audit log and keeps the anchor: the link that the remaining log follows. */
import type { Knex } from 'knex';
import type { AuditEvent } from '../../../schemas/api/insight/audit.ts';
import { unavailable } from '../../platform/operation/errors.ts';
import { claimSetting, readSetting, writeSetting } from '../../platform/runtime/settings-store.ts';
import { type ChainKey, type ChainLink, GENESIS, macOf } from './chain/chain.ts';
import { readAuditRetention } from './retention-setting-store.ts';

const ANCHOR = 'auditAnchor';

/** The last event that the retention deleted; the first remaining event follows it. */
export async function readAnchor(db: Knex): Promise<ChainLink & { mac?: string }> {
  return (await readSetting<ChainLink & { mac?: string }>(db, ANCHOR)) ?? GENESIS;
}

/** Deletes `events`, which follow the anchor without a gap, and makes the last of them the new anchor. */
export async function deleteUpTo(
  tx: Knex,
  key: ChainKey | null,
  events: readonly AuditEvent[],
): Promise<void> {
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) return;
  const deleted = await tx('audit_log').whereBetween('seq', [first.seq, last.seq]).delete();
  if (deleted !== events.length)
    throw unavailable('Another process is deleting from the audit log; try again');
  const mac = key && macOf(key, 'beginning', last);
  await writeSetting(tx, ANCHOR, { seq: last.seq, hash: last.hash, ...(mac === null ? {} : { mac }) });
}

/** Runs in a transaction and returns the previous value. A concurrent change waits. */
export async function changeRetention(tx: Knex, retentionDays: number | null): Promise<number | null> {
  await claimSetting(tx, 'audit', { retentionDays: null });
  await tx('settings').where({ key: 'audit' }).forUpdate().first('key');
  const before = await readAuditRetention(tx);
  await writeSetting(tx, 'audit', { retentionDays });
  return before;
}

export const PRUNED_ACTION = 'audit.pruned';

/** Whether an event of the log records the deletion up to this link. It is written in the same transaction as the deletion. */
export async function isPruneRecorded(db: Knex, { seq, hash }: ChainLink): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `SELECT 1 FROM audit_log WHERE action = ? AND metadata @> ?::jsonb LIMIT 1`,
    [PRUNED_ACTION, JSON.stringify({ through: seq, hash })],
  );
  return rows.length > 0;
}
