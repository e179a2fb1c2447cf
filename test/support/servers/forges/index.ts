/** The forges, and a client of Headgate's for each. */
import { sealForgeToken } from '../../../../controller/delivery/bindings/forge/forge-secrets.ts';
import type { Binding } from '../../../../controller/delivery/bindings/index.ts';
import { createKeyring } from '../../../../controller/platform/crypto/keyring.ts';
import { NO_PROXIES } from '../../../../controller/platform/net/proxies.ts';
import type { Forge } from '../../../../reconcilers/forges/forge.ts';
import { createForges, type ForgeOptions, type Forges } from '../../../../reconcilers/forges/index.ts';
import { localGuard } from '../../fixtures/local-targets.ts';
import { recordedLog } from '../../harness/recorded-log.ts';
import { useEach } from '../../harness/use.ts';
import { AzureDevOpsServer } from './azure-devops-server.ts';
import { BitbucketDataCenterServer } from './bitbucket-data-center-server.ts';
import { BitbucketServer } from './bitbucket-server.ts';
import type { ForgeServer, ForgeServerOptions } from './forge-server.ts';
import { GiteaServer } from './gitea-server.ts';
import { GitHubServer } from './github-server.ts';
import { GitLabServer } from './gitlab-server.ts';

export { type ForgeServer, shaOf } from './forge-server.ts';
export {
  AzureDevOpsServer,
  BitbucketDataCenterServer,
  BitbucketServer,
  GiteaServer,
  GitHubServer,
  GitLabServer,
};

export const SERVERS: readonly (new (options?: ForgeServerOptions) => ForgeServer)[] = [
  GitHubServer,
  GitLabServer,
  GiteaServer,
  BitbucketServer,
  BitbucketDataCenterServer,
  AzureDevOpsServer,
];

export const keyring = createKeyring('0123456789abcdef0123456789abcdef');

type Bound = Pick<
  Binding,
  | 'id'
  | 'revision'
  | 'forge'
  | 'forgeUrl'
  | 'forgeProject'
  | 'sealedForgeToken'
  | 'forgeAppId'
  | 'caCertificate'
>;

/** As a binding names the server; only what forges read of it. */
export function bindingTo(server: ForgeServer, more: Partial<Bound> & { token?: string } = {}): Binding {
  const { token = server.token, ...rest } = more;
  const id = rest.id ?? `binding-${server.name}`;
  const bound: Bound = {
    id,
    revision: 1,
    forge: server.name,
    forgeUrl: server.url,
    forgeProject: server.project,
    sealedForgeToken: sealForgeToken(keyring, id, token),
    forgeAppId: null,
    caCertificate: null,
    ...rest,
  };
  return bound as Binding;
}

export interface Client {
  forge: Forge;
  forges: Forges;
  /** Everything that was logged. */
  log(): string;
}

/** A client that does not wait long. */
export function clientOf(
  server: ForgeServer,
  binding: Parameters<typeof bindingTo>[1] = {},
  options: Partial<ForgeOptions> = {},
): Client {
  const { log, text } = recordedLog('debug');
  const forges = createForges({
    keyring,
    guard: localGuard(),
    log,
    proxies: NO_PROXIES,
    limits: { retryMs: 5 },
    ...options,
  });
  return { forge: forges.of(bindingTo(server, binding)) as Forge, forges, log: text };
}

/** How a call to a forge rejects, as `fault: message`. */
export async function faultOf(work: Promise<unknown> | undefined): Promise<string> {
  if (!work) throw new Error('the forge has no such call');
  return work.then(
    () => 'nothing was rejected',
    (error: { fault?: string; message: string }) => `${error.fault}: ${error.message}`,
  );
}

/** Runs work with a server and a client of it, and stops both. */
export async function withForge<S extends ForgeServer>(
  made: S,
  work: (server: S, client: Client) => Promise<void>,
  options: Partial<ForgeOptions> = {},
): Promise<void> {
  const server = await made.listen();
  const client = clientOf(server, {}, options);
  try {
    await work(server as S, client);
  } finally {
    await client.forges.close();
    await server.stop();
  }
}

/** A new server for each case, with a client of it. */
export function useForge<S extends ForgeServer>(
  Server: new () => S,
  ...of: [Parameters<typeof bindingTo>[1]?, Partial<ForgeOptions>?]
): { server: S; client: Client } {
  const server = useEach(
    () => new Server().listen() as Promise<S>,
    (one) => one.stop(),
  );
  const client = useEach(
    () => clientOf(server, ...of),
    ({ forges }) => forges.close(),
  );
  return { server, client };
}
