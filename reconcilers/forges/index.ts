/** The forge of a binding, kept while the binding is as it was. */
import { type Binding, type ForgeGateway, openForgeToken } from '../../controller/git-sync/index.ts';
import { forWhoeverAsks } from '../../controller/platform/for-whoever-asks.ts';
import { type Keyring, KeyringError } from '../../controller/platform/keyring.ts';
import type { Logger } from '../../controller/platform/logger.ts';
import type { TargetGuard } from '../../controller/platform/outgoing/index.ts';
import type { ProxySettings } from '../../controller/platform/proxies.ts';
import { createBitbucket } from './bitbucket.ts';
import { type Forge, ForgeError } from './forge.ts';
import { createGitea } from './gitea.ts';
import { createGitHub } from './github.ts';
import { createGitLab } from './gitlab.ts';
import type { ForgeParts } from './parts.ts';
import { untilWords } from './token-end.ts';
import { createTransport, type Transport, type TransportLimits } from './transport.ts';

export { type Forge, ForgeError, type ForgeFault, type ForgePullRequest, ForgeReply } from './forge.ts';

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
}

const MAKERS: Readonly<Record<Forge['name'], { title: string; make: (parts: ForgeParts) => Forge }>> = {
  github: { title: 'GitHub', make: createGitHub },
  gitlab: { title: 'GitLab', make: createGitLab },
  gitea: { title: 'Gitea', make: createGitea },
  bitbucket: { title: 'Bitbucket', make: createBitbucket },
};

export const titleOf = ({ forge }: Binding): string => MAKERS[forge as Forge['name']].title;

/** A binding that is gone is not heard of on every controller: its client, with token and connections, ends by itself. */
const UNUSED_MS = 60 * 60_000;

interface Kept {
  usedAt: number;
  revision: number;
  sealed: string;
  forge: Forge;
  transport: Transport;
}

export function createForges({ keyring, guard, log, proxies, limits, now = Date.now }: ForgeOptions): Forges {
  const kept = new Map<string, Kept>();

  function of(binding: Binding): Forge | null {
    const { id, revision, forge: name, forgeUrl: url, forgeProject: project, caCertificate } = binding;
    const known = kept.get(id);
    const sealed = binding.sealedForgeToken ?? '';
    if (known?.revision === revision && known.sealed === sealed && known.forge.name === name) {
      known.usedAt = now();
      return known.forge;
    }
    if (known) drop(id, known);
    if (name === 'none' || url === null || project === null) return null;
    const token = openToken(keyring, binding);
    const { title, make } = MAKERS[name];
    const transport = createTransport({
      ...{ base: url, label: `${title} at ${new URL(url).host}`, token, caCertificate },
      ...{ guard, proxies, log },
      ...(limits ? { limits } : {}),
      now,
    });
    const forge = make({ transport, url, project, token });
    for (const [other, one] of kept) if (now() - one.usedAt > UNUSED_MS) drop(other, one);
    kept.set(id, { usedAt: now(), revision, sealed, forge, transport });
    return forge;
  }

  function drop(id: string, { transport }: Kept): void {
    kept.delete(id);
    void transport.close();
  }

  return {
    of,
    async check(binding) {
      try {
        const forge = of(binding);
        await forge?.check();
        const until = untilWords((await forge?.tokenEnd()) ?? null);
        return { ok: true, message: `${titleOf(binding)} takes the token${until}` };
      } catch (error) {
        if (error instanceof ForgeError) return { ok: false, message: forWhoeverAsks(error.message) };
        throw error;
      }
    },
    async close() {
      await Promise.all([...kept.values()].map(({ transport }) => transport.destroy()));
      kept.clear();
    },
  };
}

function openToken(keyring: Keyring, binding: Binding): string {
  try {
    const token = openForgeToken(keyring, binding);
    if (token !== null) return token;
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    throw new ForgeError(
      'credentials',
      `The token of the forge cannot be opened with the keys of this controller (${error.message}); give it anew as forge.token`,
    );
  }
  throw new ForgeError('credentials', 'There is no token for the forge; give one as forge.token');
}
