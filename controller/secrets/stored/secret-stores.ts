/**
 * The secret stores of the environments. Each environment has one open backend, with its connections and sessions, as long
 * as its setting stays the same.
 */
import { readFile } from 'node:fs/promises';
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { SecretBackend as BackendKind } from '../../../schemas/api/secrets/secret-backends.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import type { TargetGuard } from '../../platform/net/outgoing/index.ts';
import { NO_PROXIES, type ProxySettings } from '../../platform/net/proxies.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { BackendError, type SecretBackend } from '../backends/backend.ts';
import type { ExecRequest } from '../backends/exec.ts';
import { type BackendSetting, openBackend, refreshMsOf } from '../backends/open-backend.ts';
import {
  applyChange,
  type BackendChange,
  type DescribedStore,
  describeStore,
  prepareChange,
} from './backend-change.ts';
import { ownPrefixOf } from './backend-setting.ts';
import { type BackendState, sameStore, storeChanged } from './backend-state.ts';
import { lockBackend, readBackend } from './backend-store.ts';
import { assertListed } from './exec-commands.ts';

export interface OpenStore {
  backend: SecretBackend;
  state: BackendState;
  /** Time between two refreshes of the values. */
  refreshMs: number;
  /** The prefix that paths must have in a store that is read with the controller's identity; null with the team's own credentials. */
  ownPrefix: string | null;
}

export interface SecretStores {
  /** Command lines that EXEC may run. */
  readonly execCommands: readonly string[];
  /** Throws NOT_FOUND, and BackendError where the setting cannot be used. */
  open(db: Knex, environmentId: string): Promise<OpenStore>;
  /** Throws in the transaction where the environment has another store than the one that `prepare` used. */
  confirm(tx: Knex, environmentId: string, state: BackendState): Promise<void>;
  /**
   * The change of the store in an update of the environment; null for none. Tests the new store once, and closes it after a
   * minute in which the change was not applied.
   */
  prepareChange(ctx: Context, input: BackendInput): Promise<BackendChange | null>;
  /** Writes the change in the transaction. */
  applyChange(ctx: MutationContext, change: BackendChange): Promise<void>;
  /** The store as users see it; null for BUILTIN. */
  describe(db: Knex, environmentId: string): Promise<DescribedStore | null>;
  /** Closes the backend of a deleted environment. */
  forget(environmentId: string): void;
  close(): void;
}

export interface BackendInput {
  id: string;
  secretBackend?: BackendKind;
  secretBackendConfig?: unknown;
}

export interface SecretStoreParts {
  keyring: Keyring;
  guard: TargetGuard;
  proxies?: ProxySettings;
  /** Command lines that EXEC may run, their parts separated by one blank; an empty list turns EXEC off. */
  execCommands: readonly string[];
  /** The requests of version 1.1 of the exec protocol, by command line. */
  execRequests?: ReadonlyMap<string, ExecRequest>;
  /** The token file of the controller's own service account in Kubernetes. */
  serviceAccountFile?: string;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    secretStores: SecretStores;
  }
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/token';
const TOKEN_CHARS = 16_384;
/** From the test of a new store to its transaction takes seconds. */
const UNAPPLIED_MS = 60_000;

export function createSecretStores(parts: SecretStoreParts): SecretStores {
  const { keyring, guard, execCommands, serviceAccountFile = SERVICE_ACCOUNT, proxies = NO_PROXIES } = parts;
  const { execRequests = new Map() } = parts;
  const opened = new Map<string, OpenStore>();
  /** Backends of recent changes; the next `open` uses one where the database still has its state. */
  const candidates = new Map<string, Pick<OpenStore, 'backend' | 'state'>>();

  /** Backends that were tested for changes that are not applied yet; the functions cancel their timers. */
  const tested = new Map<SecretBackend, () => void>();

  /** Closes the backend of a change that is refused or fails after the test. */
  function closeUnlessApplied(backend: SecretBackend, clock: Clock): void {
    const cancel = clock.after(UNAPPLIED_MS, () => {
      tested.delete(backend);
      backend.close();
    });
    tested.set(backend, cancel);
  }
  function keep(backend: SecretBackend): void {
    tested.get(backend)?.();
    tested.delete(backend);
  }
  async function serviceAccountToken(): Promise<string> {
    try {
      return (await readFile(serviceAccountFile, 'utf8')).trim().slice(0, TOKEN_CHARS);
    } catch {
      throw new BackendError(
        'refused',
        `the controller has no Kubernetes service account (${serviceAccountFile}); run it in a cluster, or use another auth method`,
      );
    }
  }
  function forget(environmentId: string): void {
    opened.get(environmentId)?.backend.close();
    opened.delete(environmentId);
  }
  function takeCandidate(environmentId: string, state: BackendState): SecretBackend | null {
    const found = candidates.get(environmentId);
    candidates.delete(environmentId);
    if (!found || sameStore(found.state, state)) return found?.backend ?? null;
    found.backend.close();
    return null;
  }
  const openSetting = (setting: BackendSetting) =>
    openBackend(setting, { guard, proxies, serviceAccountToken, execRequests });

  function settingIn(environmentId: string, { kind, sealed }: BackendState): BackendSetting {
    if (kind === 'BUILTIN') return { kind };
    if (sealed === null) throw new BackendError('refused', `${kind} has no configuration; set it again`);
    return JSON.parse(keyring.open(sealed, sealingContext('environments', environmentId))) as BackendSetting;
  }

  const tools = { keyring, execCommands, openSetting, settingIn };
  return {
    execCommands,
    async open(db, environmentId) {
      const state = await readBackend(db, environmentId);
      if (!state) throw notFound('Environment');
      const known = opened.get(environmentId);
      if (known && sameStore(known.state, state)) return known;
      forget(environmentId);
      const setting = settingIn(environmentId, state);
      if (setting.kind === 'EXEC') assertListed(execCommands, setting.config);
      const backend = takeCandidate(environmentId, state) ?? openSetting(setting);
      const store = { backend, state, refreshMs: refreshMsOf(setting), ownPrefix: ownPrefixOf(setting) };
      if (store.backend.isExternal) opened.set(environmentId, store);
      return store;
    },
    async confirm(tx, environmentId, state) {
      const now = await lockBackend(tx, environmentId);
      if (!now) throw notFound('Environment');
      if (!sameStore(now, state)) throw storeChanged();
    },
    async prepareChange(ctx, input) {
      const change = await prepareChange(ctx, tools, input);
      if (change?.opened) closeUnlessApplied(change.opened, ctx.clock);
      return change;
    },
    async applyChange(ctx, change) {
      await applyChange(ctx, change);
      if (change.opened) keep(change.opened);
      candidates.get(change.environmentId)?.backend.close();
      candidates.delete(change.environmentId);
      if (change.opened)
        candidates.set(change.environmentId, { backend: change.opened, state: change.after });
    },
    describe: (db, environmentId) => describeStore(db, tools, environmentId),
    forget(environmentId) {
      forget(environmentId);
      candidates.get(environmentId)?.backend.close();
      candidates.delete(environmentId);
    },
    close() {
      for (const { backend } of [...opened.values(), ...candidates.values()]) backend.close();
      for (const [backend, cancel] of tested) {
        cancel();
        backend.close();
      }
      tested.clear();
      opened.clear();
      candidates.clear();
    },
  };
}
