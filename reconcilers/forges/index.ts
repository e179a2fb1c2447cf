/** The forge of a binding. */
import type { Binding } from '../../controller/git-sync/index.ts';
import type { Keyring } from '../../controller/platform/keyring.ts';
import type { Logger } from '../../controller/platform/logger.ts';
import type { ProxySettings } from '../../controller/platform/proxies.ts';
import type { Forge } from './forge.ts';

export { type Forge, ForgeError, type ForgeFault, type ForgePullRequest } from './forge.ts';

export interface Forges {
  /** Null where Headgate keeps the pull requests itself. @throws ForgeError where the credentials cannot be opened */
  of(binding: Binding): Forge | null;
}

export interface ForgeOptions {
  keyring: Keyring;
  log: Logger;
  proxies: ProxySettings;
}

export function createForges(_options: ForgeOptions): Forges {
  return { of: () => null };
}
