/** The repositories of all bindings: the embedded one, and a mirror in the data directory for each remote. */
import { join } from 'node:path';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import type { TargetGuard } from '../../platform/net/outgoing/index.ts';
import type { ProxySettings } from '../../platform/net/proxies.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { embeddedHandle } from './embedded-handle.ts';
import type { Repositories } from './handle.ts';
import type { AppTokenSource } from './remote/github-app.ts';
import { createMirrors } from './remote/mirrors.ts';

export interface RepositoriesOptions {
  /** The folder `git` of the data directory. */
  root: string;
  /** The embedded repository. */
  gitdir: string;
  keyring: Keyring;
  guard: TargetGuard;
  log: Logger;
  /** Default: none. */
  proxies?: ProxySettings;
  /** For bindings with a GitHub App. */
  appToken?: AppTokenSource;
  /** The limit of one run of git against a remote. Default: 4 minutes, less than a pass has. */
  deadlineMs?: number;
}

export function createRepositories(options: RepositoriesOptions): Repositories {
  const embedded = embeddedHandle(options.gitdir);
  const mirrors = createMirrors({ ...options, folder: join(options.root, 'mirrors') });
  return {
    of: (binding) => (binding.repositoryUrl === 'embedded' ? embedded : mirrors.of(binding)),
    sweep: (bindings) => mirrors.sweep(bindings.filter((binding) => binding.repositoryUrl !== 'embedded')),
  };
}
