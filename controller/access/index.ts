export { ensureFirstAdmin } from './first-admin.ts';
export * as accessOperations from './operations.ts';
export { environmentScope, mayEnter, objectScope, teamScope } from './queries.ts';
export { mayPush, mayRead } from './repository-rights.ts';
export { actorOfApiKey, type ServiceAccountActor } from './service-accounts/api-key.ts';
export * as serviceAccountOperations from './service-accounts/operations.ts';
export { actorOfPersonalToken, actorOfSession, SESSION_MS, signIn, signOut } from './sign-in.ts';
export { deleteExpiredSessions } from './store.ts';
