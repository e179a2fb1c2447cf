export { secureContextWith } from '../platform/authorities.ts';
export { AddressError, type RemoteAddress, readAddress, samePlace } from './address.ts';
export {
  CredentialsError,
  openCredentials,
  redactor,
  refuseUnfit,
  sealCredentials,
  shownCredentials,
} from './credentials.ts';
export {
  defaultBranchOf,
  type EmbeddedRepository,
  ensureEmbeddedRepository,
  gitEnvironment,
  seedRepository,
} from './embedded.ts';
export { type GitEnd, runGit } from './git-run.ts';
export type { AppTokenSource, GitHubApp, OpenedCredentials } from './github-app.ts';
export type { BoundRepository, RefUpdate, Repositories, RepositoryHandle } from './handle.ts';
export { duringPush, duringWrite, maintainRepository } from './maintenance.ts';
export type { PushedRef } from './pushed-ref.ts';
export { createRepositories } from './repositories.ts';
export { RepositoryError, type RepositoryFault } from './repository-error.ts';
export { SshKeyError } from './ssh-key.ts';
export { createTurns, type Turns } from './turns.ts';
