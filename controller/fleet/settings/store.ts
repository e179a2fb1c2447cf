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
 * Must run in a transaction. Fields that are not given keep their value, also when two calls change different fields at once:
 * the second call waits for the first.
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
