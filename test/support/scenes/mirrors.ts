/** Bindings of remote repositories without a controller: a folder for the copies, and a keyring. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenedCredentials } from '../../../controller/delivery/repository/index.ts';
import {
  type BoundRepository,
  createRepositories,
  type Repositories,
  type RepositoryHandle,
  sealCredentials,
} from '../../../controller/delivery/repository/index.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { createTargetGuard } from '../../../controller/platform/net/outgoing/index.ts';
import type { ProxySettings } from '../../../controller/platform/net/proxies.ts';
import { git } from '../clients/fast-import.ts';
import { LOCAL_TARGETS } from '../fixtures/local-targets.ts';
import { recordedLog } from '../harness/recorded-log.ts';
import { useEach } from '../harness/use.ts';

export class MirrorScene {
  readonly root: string;
  readonly keyring = createKeyring('0123456789abcdef0123456789abcdef');
  readonly repositories: Repositories;
  readonly #log: () => string;

  constructor(
    options: {
      root?: string;
      deadlineMs?: number;
      proxies?: ProxySettings;
      privateTargets?: string[];
    } = {},
  ) {
    this.root = options.root ?? mkdtempSync(join(tmpdir(), 'headgate mirrors-'));
    const { log, text } = recordedLog('debug');
    this.#log = text;
    this.repositories = createRepositories({
      root: this.root,
      gitdir: join(this.root, 'config.git'),
      keyring: this.keyring,
      log,
      guard: createTargetGuard(options.privateTargets ?? LOCAL_TARGETS, log),
      ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
      ...(options.proxies ? { proxies: options.proxies } : {}),
    });
  }

  get log(): string {
    return this.#log();
  }

  binding(
    repositoryUrl: string,
    more: Partial<BoundRepository> & { credentials?: OpenedCredentials } = {},
  ): BoundRepository {
    const { credentials = { type: 'none' }, ...rest } = more;
    const id = more.id ?? 'binding-1';
    return {
      id,
      repositoryUrl,
      ref: 'main',
      sealedCredentials: sealCredentials(this.keyring, id, credentials),
      knownHosts: null,
      caCertificate: null,
      headCommit: null,
      appliedCommit: null,
      ...rest,
    };
  }

  of(...args: Parameters<MirrorScene['binding']>): RepositoryHandle {
    return this.repositories.of(this.binding(...args));
  }

  /** Names of the copies. */
  mirrors(): string[] {
    return readdirSync(join(this.root, 'mirrors')).filter((name) => name !== 'runs');
  }

  /** Folders of runs that are going on. */
  runs(): string[] {
    return readdirSync(join(this.root, 'mirrors/runs'));
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const headOf = (handle: RepositoryHandle, ref = 'refs/heads/main'): string =>
  git(handle.gitdir, 'rev-parse', ref);

/** The message of what it is refused with; fails where it is not. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error('it was not refused');
  return outcome.message;
}

/** A new one for each case. */
export const useMirrorScene = (options?: ConstructorParameters<typeof MirrorScene>[0]) =>
  useEach(
    () => new MirrorScene(options),
    (scene) => scene.close(),
  );
