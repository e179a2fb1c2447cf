import type { Knex } from 'knex';
import {
  claimSetting,
  lockSetting,
  readSetting,
  writeSetting,
} from '../../platform/runtime/settings-store.ts';
import { DEFAULT_FLEET_SETTINGS, type FleetSettings } from './fleet-settings.ts';

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
