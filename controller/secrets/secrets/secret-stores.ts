/**
 * The stores that environments keep their secrets in. One backend an environment is kept open, for its connections and
 * sessions, as long as its setting stays the same.
 */
import { readFile } from 'node:fs/promises';
import type { Knex } from 'knex';
import type { SecretBackend as BackendKind } from '../../../schemas/api/secret-backends.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import type { TargetGuard } from '../../platform/net/outgoing/index.ts';
import { NO_PROXIES, type ProxySettings } from '../../platform/net/proxies.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { BackendError, type SecretBackend } from '../backends/backend.ts';
import type { ExecRequest } from '../backends/exec.ts';
import { type BackendSetting, openBackend, refreshMsOf } from '../backends/open.ts';
import {
  applyChange,
  type BackendChange,
  type DescribedStore,
  describeStore,
  prepareChange,
} from './backend-change.ts';
import { ownPrefixOf } from './backend-setting.ts';
import { type BackendState, changedMeanwhile, sameStore } from './backend-state.ts';
import { lockBackend, readBackend } from './backend-store.ts';
import { assertListed } from './exec-commands.ts';

export interface OpenStore {
  backend: SecretBackend;
  state: BackendState;
  /** Between two looks for other values. */
  refreshMs: number;
  /** Null where it is read as the team itself; else the prefix that its paths must have. */
  ownPrefix: string | null;
}

export interface SecretStores {
  /** Command lines that EXEC may run. */
  readonly execCommands: readonly string[];
  /** Throws NOT_FOUND, and BackendError where it cannot be used as it is set. */
  open(db: Knex, environmentId: string): Promise<OpenStore>;
  /** In the transaction: refuses what was prepared with a store that is another now. */
  confirm(tx: Knex, environmentId: string, state: BackendState): Promise<void>;
  /** The change that an update of the environment asks for; null for none. Asks the new store once. */
  prepareChange(ctx: Context, input: BackendInput): Promise<BackendChange | null>;
  /** In the transaction. Answers what the audit log tells of it. */
  applyChange(ctx: MutationContext, change: BackendChange): Promise<void>;
  /** What people see of it; null for BUILTIN. */
  describe(db: Knex, environmentId: string): Promise<DescribedStore | null>;
  /** The environment is gone. */
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
  /** Command lines that EXEC may run, their parts one blank apart; none turns EXEC off. */
  execCommands: readonly string[];
  /** What programs are told by version 1.1 of their protocol, by command line. */
  execRequests?: ReadonlyMap<string, ExecRequest>;
  /** Of the controller's own service account in Kubernetes. */
  serviceAccountFile?: string;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    secretStores: SecretStores;
  }
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/token';
const TOKEN_CHARS = 16_384;

export function createSecretStores(parts: SecretStoreParts): SecretStores {
  const { keyring, guard, execCommands, serviceAccountFile = SERVICE_ACCOUNT, proxies = NO_PROXIES } = parts;
  const { execRequests = new Map() } = parts;
  const opened = new Map<string, OpenStore>();
  /** Of changes: to be opened by the next look, where the database says the same by then. */
  const checked = new Map<string, Pick<OpenStore, 'backend' | 'state'>>();

  async function serviceAccountToken(): Promise<string> {
    try {
      return (await readFile(serviceAccountFile, 'utf8')).trim().slice(0, TOKEN_CHARS);
    } catch {
      throw new BackendError(
        'refused',
        `the controller has no service account of Kubernetes (${serviceAccountFile}); run it in a cluster, or use another method`,
      );
    }
  }
  function forget(environmentId: string): void {
    opened.get(environmentId)?.backend.close();
    opened.delete(environmentId);
  }
  function takeChecked(environmentId: string, state: BackendState): SecretBackend | null {
    const found = checked.get(environmentId);
    checked.delete(environmentId);
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
      const backend = takeChecked(environmentId, state) ?? openSetting(setting);
      const store = { backend, state, refreshMs: refreshMsOf(setting), ownPrefix: ownPrefixOf(setting) };
      if (store.backend.outside) opened.set(environmentId, store);
      return store;
    },
    async confirm(tx, environmentId, state) {
      const now = await lockBackend(tx, environmentId);
      if (!now) throw notFound('Environment');
      if (!sameStore(now, state)) throw changedMeanwhile();
    },
    prepareChange: (ctx, input) => prepareChange(ctx, tools, input),
    async applyChange(ctx, change) {
      await applyChange(ctx, change);
      checked.get(change.environmentId)?.backend.close();
      checked.delete(change.environmentId);
      if (change.opened) checked.set(change.environmentId, { backend: change.opened, state: change.after });
    },
    describe: (db, environmentId) => describeStore(db, tools, environmentId),
    forget(environmentId) {
      forget(environmentId);
      checked.get(environmentId)?.backend.close();
      checked.delete(environmentId);
    },
    close() {
      for (const { backend } of [...opened.values(), ...checked.values()]) backend.close();
      opened.clear();
      checked.clear();
    },
  };
}
