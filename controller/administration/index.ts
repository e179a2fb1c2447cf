export * as memberAccountOperations from './member-accounts.ts';
export * as memberOperations from './members.ts';
export { followOidcFile, OidcFileError, readOidcFile } from './oidc-file.ts';
export * as settingsOperations from './settings.ts';
export * as unlinkingOperations from './unlinking.ts';
export * as userAccountOperations from './user-accounts.ts';
export * as userOperations from './users.ts';
