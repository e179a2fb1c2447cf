export * as memberAccountOperations from './member-accounts.ts';
export * as memberOperations from './member-operations.ts';
export { followOidcFile, type OidcFileSource, readOidcFile } from './oidc-file.ts';
export * as settingsOperations from './settings-operations.ts';
export * as unlinkingOperations from './unlink-operations.ts';
export * as userAccountOperations from './user-accounts.ts';
export * as userOperations from './user-operations.ts';
