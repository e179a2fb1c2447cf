export { DEFAULT_FLEET_SETTINGS, type FleetSettings } from './fleet-settings.ts';
export { changeFleetSettings, readFleetSettings } from './store.ts';
