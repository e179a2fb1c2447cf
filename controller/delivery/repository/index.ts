export { secureContextWith } from '../../platform/net/certificate-authorities.ts';
export {
  defaultBranchOf,
  type EmbeddedRepository,
  ensureEmbeddedRepository,
  gitEnvironment,
  seedRepository,
} from './embedded.ts';
export type { BoundRepository, RefUpdate, Repositories, RepositoryHandle } from './handle.ts';
export { duringPush, duringWrite, maintainRepository } from './maintenance.ts';
export { type GitEnd, runGit } from './process/git-run.ts';
export { AddressError, isSameAddress, type RemoteAddress, readAddress } from './remote/address.ts';
export {
  assertFits,
  CredentialsError,
  openCredentials,
  presentCredentials,
  redactor,
  sealCredentials,
} from './remote/credentials.ts';
export type { AppTokenSource, GitHubApp, OpenedCredentials } from './remote/github-app.ts';
export type { PushedRef } from './remote/pushed-ref.ts';
export { SshKeyError } from './remote/ssh-key.ts';
export { createRepositories } from './repositories.ts';
export { RepositoryError, type RepositoryFault, TRANSIENT_FAULTS } from './repository-error.ts';
