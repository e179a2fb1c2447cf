import type { Knex } from 'knex';
import { readSetting } from '../../platform/runtime/settings-store.ts';

/** Days that the audit log is kept; null is for ever. */
export async function readAuditRetention(db: Knex): Promise<number | null> {
  return (await readAuditSetting(db)).retentionDays;
}

/** `isChosen` is false until somebody has set it. */
export async function readAuditSetting(
  db: Knex,
): Promise<{ retentionDays: number | null; isChosen: boolean }> {
  const set = await readSetting<{ retentionDays: number | null }>(db, 'audit');
  return { retentionDays: set?.retentionDays ?? null, isChosen: set !== null };
}
