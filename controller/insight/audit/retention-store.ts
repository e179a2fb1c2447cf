/** The end of the audit log that is not there any more, and how it got so. */
import type { Knex } from 'knex';
import type { AuditEvent } from '../../../schemas/api/audit.ts';
import { unavailable } from '../../platform/operation/errors.ts';
import { claimSetting, readSetting, writeSetting } from '../../platform/runtime/settings-store.ts';
import { type ChainKey, type ChainLink, GENESIS, macOf } from './chain/chain.ts';
import { readAuditRetention } from './retention-setting-store.ts';

const ANCHOR = 'auditAnchor';

/** The last event that was deleted as the retention says: what the first that is kept follows. */
export async function readAnchor(db: Knex): Promise<ChainLink & { mac?: string }> {
  return (await readSetting<ChainLink & { mac?: string }>(db, ANCHOR)) ?? GENESIS;
}

/** Deletes `events`, which follow the anchor without a gap, and lets the last of them be the anchor. */
export async function deleteUpTo(
  tx: Knex,
  key: ChainKey | null,
  events: readonly AuditEvent[],
): Promise<void> {
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) return;
  const deleted = await tx('audit_log').whereBetween('seq', [first.seq, last.seq]).delete();
  if (deleted !== events.length) throw unavailable('Somebody else deletes from the audit log at this moment');
  const mac = key && macOf(key, 'beginning', last);
  await writeSetting(tx, ANCHOR, { seq: last.seq, hash: last.hash, ...(mac === null ? {} : { mac }) });
}

/** In a transaction; answers what it was, also where two change it at once: the second waits. */
export async function changeRetention(tx: Knex, retentionDays: number | null): Promise<number | null> {
  await claimSetting(tx, 'audit', { retentionDays: null });
  await tx('settings').where({ key: 'audit' }).forUpdate().first('key');
  const before = await readAuditRetention(tx);
  await writeSetting(tx, 'audit', { retentionDays });
  return before;
}

export const PRUNED = 'audit.pruned';

/** Whether the log itself tells that it was deleted up to here; told in the transaction that did it. */
export async function isPruneRecorded(db: Knex, { seq, hash }: ChainLink): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `SELECT 1 FROM audit_log WHERE action = ? AND metadata @> ?::jsonb LIMIT 1`,
    [PRUNED, JSON.stringify({ through: seq, hash })],
  );
  return rows.length > 0;
}
