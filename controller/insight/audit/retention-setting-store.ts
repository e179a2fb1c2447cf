import type { Knex } from 'knex';
import { readSetting } from '../../platform/runtime/settings-store.ts';

/** The retention of the audit log in days; null keeps it for ever. */
export async function readAuditRetention(db: Knex): Promise<number | null> {
  return (await readAuditSetting(db)).retentionDays;
}

/** `isChosen` is false until a super admin sets the retention. */
export async function readAuditSetting(
  db: Knex,
): Promise<{ retentionDays: number | null; isChosen: boolean }> {
  const set = await readSetting<{ retentionDays: number | null }>(db, 'audit');
  return { retentionDays: set?.retentionDays ?? null, isChosen: set !== null };
}
