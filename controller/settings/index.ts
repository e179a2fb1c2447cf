export { DEFAULT_FLEET_SETTINGS, type FleetSettings } from './fleet.ts';
export {
  deleteOidcFileState,
  type OidcFileState,
  readOidcFileState,
  refuseIfSetByFile,
  type SetByFile,
  writeOidcFileState,
} from './oidc-file-store.ts';
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
