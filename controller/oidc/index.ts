export { type OidcSettings, readOidcSettings } from './store.ts';
