export { DEFAULT_FLEET_SETTINGS, type FleetSettings } from './fleet.ts';
export {
  changeFleetSettings,
  claimSetting,
  readAuditRetention,
  readAuditSetting,
  readFleetSettings,
  readSetting,
  writeSetting,
} from './store.ts';
