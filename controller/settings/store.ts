import type { Knex } from 'knex';
import { DEFAULT_FLEET_SETTINGS, type FleetSettings } from './fleet.ts';

export async function readSetting<T>(db: Knex, key: string): Promise<T | null> {
  const row: { value: T } | undefined = await db('settings').where({ key }).first('value');
  return row ? row.value : null;
}

export async function writeSetting(db: Knex, key: string, value: unknown): Promise<void> {
  await db('settings')
    .insert({ key, value: JSON.stringify(value), updated_at: db.fn.now() })
    .onConflict('key')
    .merge();
}

/** Writes `value` only where the key is not set yet; answers what is set now. */
export async function claimSetting<T>(db: Knex, key: string, value: T): Promise<T> {
  await db('settings')
    .insert({ key, value: JSON.stringify(value) })
    .onConflict('key')
    .ignore();
  return (await readSetting<T>(db, key)) ?? value;
}

/** Until the transaction ends nobody else changes this setting. Null where it is not set. */
export async function lockSetting<T>(tx: Knex, key: string): Promise<T | null> {
  const row: { value: T } | undefined = await tx('settings').where({ key }).forUpdate().first('value');
  return row ? row.value : null;
}

export async function readFleetSettings(db: Knex): Promise<FleetSettings> {
  return { ...DEFAULT_FLEET_SETTINGS, ...(await readSetting<Partial<FleetSettings>>(db, 'fleet')) };
}

/**
 * In a transaction. What is not given stays as it is, also where two change different ones at once: the second waits, and adds
 * to what the first has left.
 */
export async function changeFleetSettings(
  tx: Knex,
  change: Partial<FleetSettings>,
): Promise<{ before: FleetSettings; after: FleetSettings }> {
  await claimSetting(tx, 'fleet', {});
  const stored = await lockSetting<Partial<FleetSettings>>(tx, 'fleet');
  await writeSetting(tx, 'fleet', { ...stored, ...change });
  return {
    before: { ...DEFAULT_FLEET_SETTINGS, ...stored },
    after: { ...DEFAULT_FLEET_SETTINGS, ...stored, ...change },
  };
}

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
