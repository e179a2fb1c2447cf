export {
  type AccessPolicy,
  accessPolicyOf,
  changeAccessPolicy,
  readAccessPolicy,
} from './access-policy.ts';
export * as accountOperations from './account-operations.ts';
export { forgetFailures } from './attempts.ts';
export { ensureFirstAdmin } from './first-admin.ts';
export * as accessOperations from './operations.ts';
export { deletePersonalTokensOf, shortenPersonalTokens } from './personal-tokens-store.ts';
export { environmentScope, mayEnter, objectScope, teamScope } from './queries.ts';
export { mayPush, mayRead } from './repository-rights.ts';
export { restsAt } from './rest.ts';
export { CONFIRMATION, confirmationOf, STORED_POLICY, type StoredConfirmation } from './rest-store.ts';
export * as twoFactorOperations from './second-factor/operations.ts';
export { turnOffTwoFactor } from './second-factor/store.ts';
export { actorOfApiKey, type ServiceAccountActor } from './service-accounts/api-key.ts';
export * as serviceAccountOperations from './service-accounts/operations.ts';
export * as sessionOperations from './session-operations.ts';
export {
  actorOfPersonalToken,
  actorOfSession,
  deleteSessionsAtProvider,
  endSessions,
  openSession,
  SESSION_MS,
  type SignedIn,
  signOut,
  type UserActor,
} from './sessions.ts';
export { deleteExpiredSessions, deletePasswordSessions, findSessionOwner } from './sessions-store.ts';
export { signIn } from './sign-in.ts';
export { makeTemporaryPassword, signsInByPassword, type TemporaryPassword } from './temporary-password.ts';
export { deleteOldThrottles } from './throttle-store.ts';
export { deleteExpiredTokens } from './token-retention-store.ts';
export {
  countSuperAdmins,
  countSuperAdminsWithPassword,
  deleteUser,
  findUser,
  findUserByEmail,
  insertUser,
  type LockedBy,
  listBreakGlass,
  lockUserRow,
  lockUsers,
  passwordOpens,
  replaceBreakGlass,
  setLocked,
  setTemporaryPassword,
  setUnlocked,
  type User,
  updateUser,
} from './users-store.ts';
