/** Changes the secret backend of an environment, or its setting: tests the new store first, then writes it in the transaction. */
import type { Knex } from 'knex';
import type {
  SecretBackend as BackendKind,
  ShownBackendConfig,
} from '../../../schemas/api/secrets/secret-backends.ts';
import { bumpConfigRevision } from '../../fleet/environments/index.ts';
import { type Keyring, KeyringError } from '../../platform/crypto/keyring.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, forbidden, messageOf, notFound } from '../../platform/operation/errors.ts';
import { BackendError, type SecretBackend } from '../backends/backend.ts';
import type { BackendSetting } from '../backends/open-backend.ts';
import type { SecretRef } from '../backends/secret-ref.ts';
import {
  isWithinOwnPrefix,
  ownPrefixOf,
  parseSetting,
  presentSetting,
  usesOwnIdentity,
  withStoredCredentials,
} from './backend-setting.ts';
import { type BackendState, sameStore, storeChanged, toDomainError } from './backend-state.ts';
import {
  clearFetchState,
  type FetchState,
  lockBackend,
  readBackend,
  readFetchState,
  writeBackend,
} from './backend-store.ts';
import { assertListed } from './exec-commands.ts';
import { type FetchedRow, listFetched, markFailed } from './fetch-store.ts';
import type { BackendInput } from './secret-stores.ts';

export const SECRETS_LOOP = 'secrets';

interface Tools {
  keyring: Keyring;
  execCommands: readonly string[];
  openSetting(setting: BackendSetting): SecretBackend;
  settingIn(environmentId: string, state: BackendState): BackendSetting;
}

export interface BackendChange {
  environmentId: string;
  before: BackendState;
  after: BackendState;
  /** Names of the changed fields of the configuration. */
  fields: string[];
  /** The backend that was tested. It stays open with its session, because a login may allow a few uses only. Null for BUILTIN. */
  opened: SecretBackend | null;
  /** Registered secrets that the new store does not have. */
  failed: readonly FailedRow[];
}

type FailedRow = Parameters<typeof markFailed>[1][number];

export interface DescribedStore extends FetchState {
  /** Null where it cannot be decrypted; then `error` gives the reason. */
  config: ShownBackendConfig | null;
}

export async function prepareChange(
  ctx: Context,
  tools: Tools,
  { id, secretBackend, secretBackendConfig: config }: BackendInput,
): Promise<BackendChange | null> {
  if (secretBackend === undefined && config === undefined) return null;
  const before = await readBackend(ctx.db, id);
  if (!before) throw notFound('Environment');
  const kind = secretBackend ?? before.kind;
  if (config === undefined && kind === before.kind) return null;
  if (kind === 'BUILTIN' && config === undefined)
    return { environmentId: id, before, after: { kind, sealed: null }, fields: [], opened: null, failed: [] };
  if (config === undefined)
    throw badRequest(`secretBackendConfig is required for ${kind}: ${EXAMPLES[kind]}`);
  const stored = storedSetting(tools, id, before);
  const setting = withStoredCredentials(parseSetting(kind, config), stored);
  assertAllowed(ctx, tools, setting);
  const registered = await listFetched(ctx.db, id);
  assertPathsNotWider(registered, { before: stored && ownPrefixOf(stored), after: ownPrefixOf(setting) });
  const opened = tools.openSetting(setting);
  const failed = await testBackend(opened, { kind, registered }, ctx.signal);
  return {
    ...{ opened, failed },
    environmentId: id,
    before,
    after: { kind, sealed: tools.keyring.seal(JSON.stringify(setting), sealingContext('environments', id)) },
    fields: changedFields(stored, setting),
  };
}

const EXAMPLES: Record<BackendKind, string> = {
  BUILTIN: 'none',
  VAULT: '{"address":"https://…","auth":{"method":"token","token":"…"}}',
  CLOUD_SM: '{"region":"eu-central-1","accessKeyId":"…","secretAccessKey":"…"}',
  EXEC: '{"command":"/…","args":["…"]}, one of the commands that the operator lists',
};

/** Null where the stored setting cannot be decrypted any longer: then there are no credentials to keep. */
function storedSetting(tools: Tools, environmentId: string, state: BackendState): BackendSetting | null {
  try {
    return tools.settingIn(environmentId, state);
  } catch (error) {
    if (error instanceof KeyringError || error instanceof BackendError) return null;
    throw error;
  }
}

/** Editors set their team's secrets with their own credentials. Only super admins may use the controller's identity. */
function assertAllowed(ctx: Context, { execCommands }: Tools, setting: BackendSetting): void {
  const { actor } = ctx;
  const trusted = actor.type === 'system' || (actor.type === 'user' && actor.isSuperAdmin);
  if (setting.kind === 'EXEC') {
    try {
      assertListed(execCommands, setting.config);
    } catch (error) {
      if (error instanceof BackendError && error.fault === 'forbidden') throw forbidden(error.message);
      throw toDomainError(error);
    }
  }
  if (usesOwnIdentity(setting) && !trusted) {
    throw forbidden(
      `This would use the controller's own identity, which may have more access than this team: ask a super admin, or set ${
        setting.kind === 'VAULT' ? 'a token or an AppRole' : 'accessKeyId and secretAccessKey'
      }`,
    );
  }
}

const MAX_NAMED = 10;

/**
 * Rejects the switch to the controller's identity while paths are registered that editors chose with the team's own
 * credentials: that identity may have more access. Paths that were read with the controller's identity before stay.
 * A prefix is null where the store is read with the team's own credentials.
 */
function assertPathsNotWider(
  registered: readonly SecretRef[],
  { before, after }: { before: string | null; after: string | null },
): void {
  if (after === null) return;
  const wider = registered.filter(
    ({ path }) =>
      path !== null &&
      !isWithinOwnPrefix(path, after) &&
      (before === null || isWithinOwnPrefix(path, before)),
  );
  if (wider.length === 0) return;
  const names = wider.slice(0, MAX_NAMED).map(({ name, path }) => `${name} (${path})`);
  const more = wider.length > MAX_NAMED ? ` and ${wider.length - MAX_NAMED} more` : '';
  throw badRequest(
    `secretBackendConfig: with the controller's own identity these secrets would be read outside ${
      after === '' ? 'what is open to the team' : after
    }: ${names.join(', ')}${more}. Delete them here first, then register them again as a super admin`,
  );
}

const MAX_TEST_READS = 100;

/**
 * Tests that the store accepts us and has the registered secrets. A store that has only some of them is accepted: the
 * missing ones are returned and keep their last good value.
 */
async function testBackend(
  backend: SecretBackend,
  { kind, registered }: { kind: BackendKind; registered: readonly FetchedRow[] },
  signal: AbortSignal,
): Promise<FailedRow[]> {
  try {
    await backend.check(signal);
    const rows = registered.slice(0, MAX_TEST_READS);
    if (rows.length === 0 || !backend.isExternal) return [];
    const readings = await backend.read(rows, signal);
    const failed = rows.flatMap((row) => {
      const reading = readings.get(row.name);
      return reading && 'error' in reading ? [{ row, error: reading.error }] : [];
    });
    const [first] = failed;
    if (first && failed.length === readings.size)
      throw new BackendError(
        'refused',
        `${kind} has none of the ${registered.length} registered secrets: ${first.error}`,
      );
    return failed;
  } catch (error) {
    backend.close();
    throw error instanceof BackendError ? badRequest(`secretBackendConfig: ${error.message}`) : error;
  }
}

function changedFields(before: BackendSetting | null, after: BackendSetting): string[] {
  const earlier: Record<string, unknown> = before && 'config' in before ? before.config : {};
  const later: Record<string, unknown> = 'config' in after ? after.config : {};
  return [...new Set([...Object.keys(earlier), ...Object.keys(later)])]
    .filter((field) => JSON.stringify(earlier[field]) !== JSON.stringify(later[field]))
    .sort();
}

export async function applyChange(ctx: MutationContext, change: BackendChange): Promise<void> {
  const { environmentId, before, after } = change;
  const now = await lockBackend(ctx.db, environmentId);
  if (!now) throw notFound('Environment');
  if (!sameStore(now, before)) throw storeChanged();
  await writeBackend(ctx.db, environmentId, after);
  if (after.kind === 'BUILTIN') await clearFetchState(ctx.db, environmentId);
  await markFailed(ctx.db, change.failed);
  const { bus } = ctx.services;
  await bumpConfigRevision(ctx.db, environmentId);
  await bus.publish(ctx.db, { type: 'config', environmentId, reason: 'secret backend changed' });
  await bus.publish(ctx.db, {
    type: 'wake',
    loop: SECRETS_LOOP,
    key: environmentId,
    trigger: 'secret backend changed',
  });
  await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['secrets'] });
}

export async function describeStore(
  db: Knex,
  tools: Tools,
  environmentId: string,
): Promise<DescribedStore | null> {
  const state = await readBackend(db, environmentId);
  if (!state || state.kind === 'BUILTIN') return null;
  const fetched = await readFetchState(db, environmentId);
  try {
    return { ...fetched, config: presentSetting(tools.settingIn(environmentId, state)) };
  } catch (error) {
    return { ...fetched, config: null, error: `its configuration cannot be decrypted: ${messageOf(error)}` };
  }
}
