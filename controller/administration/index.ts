export * as memberAccountOperations from './member-accounts.ts';
export * as memberOperations from './members.ts';
export { followOidcFile, readOidcFile, type Source as OidcFileSource } from './oidc-file.ts';
export * as settingsOperations from './settings.ts';
export * as unlinkingOperations from './unlinking.ts';
export * as userAccountOperations from './user-accounts.ts';
export * as userOperations from './users.ts';
