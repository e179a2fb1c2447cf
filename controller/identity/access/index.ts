export {
  type AccessPolicy,
  accessPolicyOf,
  changeAccessPolicy,
  readAccessPolicy,
} from './access-policy.ts';
export {
  assertNotSetByFile,
  deleteOidcFileState,
  type OidcFileState,
  readOidcFileState,
  type SetByFile,
  writeOidcFileState,
} from './oidc-file-store.ts';
export { mayPush, mayRead } from './repository-rights.ts';
export { environmentScope, mayEnter, objectScope, teamScope } from './scope-queries.ts';
export * as twoFactorOperations from './second-factor/operations.ts';
export { turnOffTwoFactor } from './second-factor/store.ts';
export { actorOfApiKey, type ServiceAccountActor } from './service-accounts/api-key.ts';
export * as serviceAccountOperations from './service-accounts/operations.ts';
export * as sessionOperations from './sessions/session-operations.ts';
export {
  actorOfPersonalToken,
  actorOfSession,
  deleteSessionsAtProvider,
  endSessions,
  openSession,
  type SignedIn,
  signOut,
  type TokenActor,
  type UserActor,
} from './sessions/sessions.ts';
export {
  deleteExpiredSessions,
  deletePasswordSessions,
  findSessionOwner,
} from './sessions/sessions-store.ts';
export { forgetFailures } from './sign-in/attempts.ts';
export { createPasswords, type PasswordCost } from './sign-in/passwords.ts';
export { signIn } from './sign-in/sign-in.ts';
export {
  createTemporaryPassword,
  hasValidPassword,
  type TemporaryPassword,
} from './sign-in/temporary-password.ts';
export { deleteOldThrottles } from './sign-in/throttle-store.ts';
export { deletePersonalTokensOf, shortenPersonalTokens } from './tokens/personal-tokens-store.ts';
export * as accessOperations from './tokens/token-operations.ts';
export { deleteExpiredTokens } from './tokens/token-retention-store.ts';
export * as accountOperations from './users/account-operations.ts';
export {
  CONFIRMATION,
  confirmationOf,
  STORED_POLICY,
  type StoredConfirmation,
} from './users/account-rest-store.ts';
export { assertStillSignedIn } from './users/caller.ts';
export { ensureFirstAdmin } from './users/first-admin.ts';
export { restsAt } from './users/resting-account.ts';
export {
  countSuperAdmins,
  countSuperAdminsWithPassword,
  deleteUser,
  findUser,
  findUserByEmail,
  insertUser,
  isPasswordAllowed,
  type LockedBy,
  listBreakGlass,
  lockUserRow,
  lockUsers,
  replaceBreakGlass,
  setLocked,
  setTemporaryPassword,
  setUnlocked,
  type User,
  updateUser,
} from './users/users-store.ts';
