/** The forge of a binding, kept while the binding is as it was. */
import { createHash } from 'node:crypto';
import { type Binding, type ForgeGateway, openForgeToken } from '../../controller/delivery/bindings/index.ts';
import { type Keyring, KeyringError } from '../../controller/platform/crypto/keyring.ts';
import type { TargetGuard } from '../../controller/platform/net/outgoing/index.ts';
import type { ProxySettings } from '../../controller/platform/net/proxies.ts';
import { toUserRetryMessage } from '../../controller/platform/operation/user-retry-message.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import { createAzureDevOps } from './azure-devops/azure-devops.ts';
import { createBitbucket } from './bitbucket/bitbucket.ts';
import { createBitbucketDataCenter } from './bitbucket/data-center.ts';
import { type Forge, ForgeError } from './forge.ts';
import type { ForgeParts } from './forge-options.ts';
import { createGitea } from './gitea/gitea.ts';
import { type AppTokens, createAppTokens } from './github/app-tokens.ts';
import { createGitHub } from './github/github.ts';
import { createGitLab } from './gitlab/gitlab.ts';
import { expiryText } from './token-expiry.ts';
import {
  createTransport,
  type Hold,
  noHold,
  type Transport,
  type TransportLimits,
} from './transport/transport.ts';

export { type Forge, ForgeError, type ForgeFault, type ForgePullRequest, ForgeReply } from './forge.ts';
export { type AppTokens, createAppTokens, gitTokens } from './github/app-tokens.ts';

export interface Forges extends ForgeGateway {
  /** Null where Headgate keeps the pull requests itself. @throws ForgeError where the token cannot be opened */
  of(binding: Binding): Forge | null;
  close(): Promise<void>;
}

export interface ForgeOptions {
  keyring: Keyring;
  guard: TargetGuard;
  log: Logger;
  proxies: ProxySettings;
  limits?: Partial<TransportLimits>;
  now?: () => number;
  apps?: AppTokens;
}

const MAKERS: Readonly<Record<Forge['name'], { title: string; make: (parts: ForgeParts) => Forge }>> = {
  github: { title: 'GitHub', make: createGitHub },
  gitlab: { title: 'GitLab', make: createGitLab },
  gitea: { title: 'Gitea', make: createGitea },
  bitbucket: { title: 'Bitbucket', make: createBitbucket },
  'bitbucket-data-center': { title: 'Bitbucket Data Center', make: createBitbucketDataCenter },
  'azure-devops': { title: 'Azure DevOps', make: createAzureDevOps },
};

export const titleOf = ({ forge }: Binding): string => MAKERS[forge as Forge['name']].title;

/** A binding that is gone is not heard of on every controller: its client, with token and connections, ends by itself. */
const UNUSED_MS = 60 * 60_000;

interface Kept {
  usedAt: number;
  forge: Forge;
  transport: Transport;
  hold: Hold;
  /** Who asks: bindings of one token are counted together by the forge. */
  asker: string;
}

export function createForges(options: ForgeOptions): Forges {
  const { keyring, guard, log, proxies, limits, now = Date.now } = options;
  const apps = options.apps ?? createAppTokens({ guard, log, proxies, now, ...(limits ? { limits } : {}) });
  /** By place and token: environments of one repository share a client, its answers and its pauses. */
  const kept = new Map<string, Kept>();
  /** Which of them a binding has, while it is as it was. */
  const clients = new Map<
    string,
    { revision: number; sealed: string; forge: Binding['forge']; key: string }
  >();

  function of(binding: Binding): Forge | null {
    const { id, revision, forge: name, forgeUrl: url, forgeProject: project } = binding;
    const sealed = binding.sealedForgeToken ?? '';
    const last = clients.get(id);
    if (last?.revision === revision && last.sealed === sealed && last.forge === name) {
      const known = kept.get(last.key);
      if (known) {
        known.usedAt = now();
        return known.forge;
      }
    }
    sweep();
    if (name === 'none' || url === null || project === null) return null;
    const token = openToken(keyring, binding);
    // Of an app each installation is counted by itself, and each owner has one.
    const owner = binding.forgeAppId === null ? null : project.split('/')[0];
    const asker = digestOf([new URL(url).origin, token, owner]);
    const key = digestOf([name, url, project, binding.forgeAppId, token, binding.caCertificate]);
    const known = kept.get(key) ?? make({ name, url, project, token, asker, binding });
    known.usedAt = now();
    kept.set(key, known);
    clients.set(id, { revision, sealed, forge: name, key });
    return known.forge;
  }

  function make({ name, url, project, token, asker, binding }: Making): Kept {
    const { title, make: makeForge } = MAKERS[name];
    const hold = [...kept.values()].find((one) => one.asker === asker)?.hold ?? noHold();
    const transport = createTransport({
      ...{ base: url, label: `${title} at ${new URL(url).host}`, token, hold },
      caCertificate: binding.caCertificate,
      ...{ guard, proxies, log },
      ...(name === 'github' ? { beside: GITHUB_ENTERPRISE_GRAPHQL } : {}),
      ...(limits ? { limits } : {}),
      now,
    });
    const { forgeAppId: id, caCertificate } = binding;
    const app = id === null ? null : apps.of({ id, privateKey: token, url, project }, caCertificate);
    return {
      ...{ usedAt: now(), transport, hold, asker },
      forge: makeForge({ transport, url, project, token, app }),
    };
  }

  function sweep(): void {
    for (const [key, { usedAt, transport }] of kept) {
      if (now() - usedAt <= UNUSED_MS) continue;
      kept.delete(key);
      void transport.close();
    }
    for (const [id, { key }] of clients) if (!kept.has(key)) clients.delete(id);
  }

  return {
    of,
    async check(binding) {
      try {
        const forge = of(binding);
        await forge?.check();
        const until = expiryText((await forge?.tokenEnd()) ?? null);
        return {
          ok: true,
          message: `${titleOf(binding)} takes the ${binding.forgeAppId === null ? 'token' : 'app'}${until}`,
        };
      } catch (error) {
        if (error instanceof ForgeError) return { ok: false, message: toUserRetryMessage(error.message) };
        throw error;
      }
    },
    async close() {
      await Promise.all([...kept.values()].map(({ transport }) => transport.destroy()));
      await apps.close();
      kept.clear();
      clients.clear();
    },
  };
}

interface Making {
  name: Forge['name'];
  url: string;
  project: string;
  token: string;
  asker: string;
  binding: Binding;
}

/** Beside `/api/v3`; of github.com it is below the address of the API. */
const GITHUB_ENTERPRISE_GRAPHQL = '/api/graphql';

/** A digest: nothing of its input can be read from it. */
const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64');

function openToken(keyring: Keyring, binding: Binding): string {
  try {
    const token = openForgeToken(keyring, binding);
    if (token !== null) return token;
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    throw new ForgeError(
      'credentials',
      `The token of the forge cannot be opened with the keys of this controller (${error.message}); set it again as forge.token`,
    );
  }
  throw new ForgeError('credentials', 'There is no token for the forge; give one as forge.token');
}
