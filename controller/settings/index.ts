export { DEFAULT_FLEET_SETTINGS, type FleetSettings } from './fleet.ts';
export { claimSetting, readFleetSettings, readSetting, writeSetting } from './store.ts';
