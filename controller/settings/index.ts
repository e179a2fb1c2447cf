export { DEFAULT_FLEET_SETTINGS, type FleetSettings } from './fleet.ts';
export {
  changeFleetSettings,
  claimSetting,
  lockSetting,
  readAuditRetention,
  readAuditSetting,
  readFleetSettings,
  readSetting,
  writeSetting,
} from './store.ts';
