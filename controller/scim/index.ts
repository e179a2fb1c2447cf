export { readScimSettings, type ScimSettings } from './settings-store.ts';
