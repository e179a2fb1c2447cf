import {
  CreateSecret,
  DeletedSecret,
  DeleteSecret,
  EnvironmentId,
  RegisterSecret,
  RelocateSecret,
  SecretList,
  SecretSummary,
  UpdateSecret,
} from '../../../schemas/api/fleet/environments.ts';
import { Done } from '../../../schemas/api/identity/people.ts';
import { secretVariable } from '../../../schemas/pipelines/secret-variable.ts';
import { bumpConfigRevision, lockEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { BackendError, invalidValueReason } from '../backends/backend.ts';
import { refTo, type SecretRef } from '../backends/secret-ref.ts';
import { assertNameFree, assertOwnPath, assertText } from './assert-secret.ts';
import { SECRETS_LOOP } from './backend-change.ts';
import { type BackendState, toDomainError } from './backend-state.ts';
import { readBackend } from './backend-store.ts';
import type { OpenStore } from './secret-stores.ts';
import {
  deleteSecret,
  findSecret,
  insertSecret,
  listSecrets,
  type StoredSecret,
  updateSecretLocation,
  updateSecretValue,
} from './store.ts';
import { readSecretUsers, type SecretUsers } from './users-queries.ts';

/** Opens the environment's store for `work` and maps its faults to API errors. */
async function withStore<T>(
  ctx: Context,
  environmentId: string,
  work: (store: OpenStore) => Promise<T>,
): Promise<T> {
  try {
    return await work(await ctx.services.secretStores.open(ctx.db, environmentId));
  } catch (error) {
    throw toDomainError(error);
  }
}

/** The same rules hold for values that are fetched from an external store. */
function assertStorable({ backend }: OpenStore, value: string): void {
  const reason = backend.isExternal ? invalidValueReason(value) : null;
  if (reason !== null) throw badRequest(`value: ${reason}`);
}

/**
 * Creates an entry of the store. One with this value is taken as created: an earlier request may have written it and ended
 * before its row was stored.
 */
async function createEntry(
  { backend }: OpenStore,
  ref: SecretRef,
  value: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await backend.write(ref, value, 'create', signal);
  } catch (error) {
    if (!(error instanceof BackendError) || error.fault !== 'exists') throw error;
    const reading = (await backend.read([ref], signal)).get(ref.name);
    if (!reading || 'error' in reading || reading.value !== value) throw error;
  }
}

const isExternal = (state: BackendState): boolean => state.kind !== 'BUILTIN';

/** The nodes of the environment fetch their config again, and git reconciles manifests that lacked the secret. */
async function publishChange(ctx: MutationContext, environmentId: string, reason: string): Promise<void> {
  const { bus } = ctx.services;
  await bumpConfigRevision(ctx.db, environmentId);
  await bus.publish(ctx.db, { type: 'config', environmentId, reason });
  await bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger: reason });
  await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['secrets'] });
}

export const list = query({
  name: 'secret.list',
  summary: 'Names and times of the secrets of an environment, never values',
  role: 'VIEWER',
  permission: 'secrets.read',
  input: EnvironmentId,
  output: SecretList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const usersOf = await readSecretUsers(ctx.db, input.environmentId);
    const secrets = await listSecrets(ctx.db, input.environmentId);
    return secrets.map((secret) => ({ ...secret, ...usersOf(secret.variable) }));
  },
});

export const create = mutation({
  name: 'secret.create',
  summary: 'Store a secret, encrypted; where the environment has an external store, it is written there',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.created',
  input: CreateSecret,
  output: SecretSummary,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, { environmentId, name, value }) {
    assertText(value);
    return withStore(ctx, environmentId, async (store) => {
      assertStorable(store, value);
      if (isExternal(store.state)) await assertNameFree(ctx.db, environmentId, secretVariable(name));
      await createEntry(store, refTo(name), value, ctx.signal);
      return store.state;
    });
  },
  async run(ctx, input, state) {
    await ctx.services.secretStores.confirm(ctx.db, input.environmentId, state);
    return createSecret(ctx, input, { fetched: isExternal(state), reason: 'secret created' });
  },
});

/**
 * Reads one secret from the external store of an environment.
 * @throws PRECONDITION_FAILED without an external store; FORBIDDEN; BAD_REQUEST where the store has no usable value.
 */
function readFromStore(
  ctx: Context,
  environmentId: string,
  ref: SecretRef,
): Promise<{ state: BackendState; value: string }> {
  return withStore(ctx, environmentId, async ({ backend, state, ownPrefix }) => {
    if (!backend.isExternal) {
      throw preconditionFailed(
        'This environment stores its secrets in Headgate itself: set the value with secret.create, or set an external store with environment.update first',
      );
    }
    if (ref.path !== null) assertOwnPath(ctx, ref.path, ownPrefix);
    const reading = (await backend.read([ref], ctx.signal)).get(ref.name);
    if (!reading || 'error' in reading)
      throw badRequest(
        `${ref.path === null ? 'name' : 'path'}: ${reading?.error ?? 'the store does not have it'}`,
      );
    return { state, value: reading.value };
  });
}

export const register = mutation({
  name: 'secret.register',
  summary:
    'Register a secret that exists in the external store of the environment; its value is fetched from there',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.registered',
  input: RegisterSecret,
  output: SecretSummary,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, { environmentId, name, path = null, property = null, version = null }) {
    await assertNameFree(ctx.db, environmentId, secretVariable(name));
    return readFromStore(ctx, environmentId, { name, path, property, version });
  },
  async run(ctx, input, { state, value }) {
    await ctx.services.secretStores.confirm(ctx.db, input.environmentId, state);
    return createSecret(ctx, { ...input, value }, { fetched: true, reason: 'secret registered' });
  },
});

export const relocate = mutation({
  name: 'secret.relocate',
  summary:
    'Set the location of a secret in the external store; the value is read from there before anything changes',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.relocated',
  input: RelocateSecret,
  output: SecretSummary,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, { environmentId, id, path = null, property = null, version = null }) {
    const secret = await findSecret(ctx.db, environmentId, id);
    if (!secret) throw notFound('Secret');
    return readFromStore(ctx, environmentId, { name: secret.name, path, property, version });
  },
  async run(ctx, { id, environmentId, path = null, property = null, version = null }, { state, value }) {
    await ctx.services.secretStores.confirm(ctx.db, environmentId, state);
    const before = await findSecret(ctx.db, environmentId, id);
    if (!before) throw notFound('Secret');
    const after = { path, property, version };
    await updateSecretLocation(ctx.db, id, after);
    await updateSecretValue(ctx.db, ctx.services.keyring, { id, value, fetched: true });
    ctx.audit({
      ...{ entityType: 'Secret', entityId: id, metadata: { name: before.name } },
      diff: diffOf(before, after),
    });
    await publishChange(ctx, environmentId, 'secret relocated');
    return withUsers(ctx, environmentId, before);
  },
});

/** The current state of a secret, with what uses it. */
async function withUsers(ctx: Context, environmentId: string, before: StoredSecret): Promise<SecretSummary> {
  const after = (await findSecret(ctx.db, environmentId, before.id)) ?? before;
  const usersOf = await readSecretUsers(ctx.db, environmentId);
  return { ...after, ...usersOf(after.variable) };
}

interface NewSecret {
  environmentId: string;
  name: string;
  value: string;
  path?: string | undefined;
  property?: string | undefined;
  version?: string | undefined;
}

async function createSecret(
  ctx: MutationContext,
  { environmentId, name, value, ...location }: NewSecret,
  { fetched, reason }: { fetched: boolean; reason: string },
): Promise<SecretSummary> {
  const variable = secretVariable(name);
  const row = { id: newId(), environmentId, name, variable, value, fetched, ...location };
  const secret = await insertSecret(ctx.db, ctx.services.keyring, row);
  ctx.audit({ entityType: 'Secret', entityId: secret.id, metadata: { name, ...location } });
  await publishChange(ctx, environmentId, reason);
  return { ...secret, usedBy: [], usedByEndpoints: [] };
}

export const update = mutation({
  name: 'secret.update',
  summary: 'Replace the value of a secret; the pipelines that use it restart with the new one',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.updated',
  input: UpdateSecret,
  output: SecretSummary,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, { environmentId, id, value }) {
    assertText(value);
    return withStore(ctx, environmentId, async (store) => {
      const secret = await findSecret(ctx.db, environmentId, id);
      if (!secret) throw notFound('Secret');
      assertStorable(store, value);
      if (secret.path !== null) assertOwnPath(ctx, secret.path, store.ownPrefix);
      await store.backend.write(secret, value, 'replace', ctx.signal);
      return store.state;
    });
  },
  async run(ctx, input, state) {
    await ctx.services.secretStores.confirm(ctx.db, input.environmentId, state);
    const before = await findSecret(ctx.db, input.environmentId, input.id);
    if (!before) throw notFound('Secret');
    const { id, value } = input;
    await updateSecretValue(ctx.db, ctx.services.keyring, { id, value, fetched: isExternal(state) });
    ctx.audit({ entityType: 'Secret', entityId: input.id, metadata: { name: before.name } });
    await publishChange(ctx, input.environmentId, 'secret updated');
    return withUsers(ctx, input.environmentId, before);
  },
});

function assertUnused({ variable }: StoredSecret, { usedBy, usedByEndpoints }: SecretUsers): void {
  if (usedBy.length > 0)
    throw preconditionFailed(
      `${variable} is used by deployed pipelines: ${usedBy.join(', ')}. Remove the reference from these pipelines first, or replace the value`,
    );
  if (usedByEndpoints.length > 0)
    throw preconditionFailed(
      `${variable} is used by webhook endpoints: ${usedByEndpoints.join(', ')}. Name another secret in their manifests first, or replace the value`,
    );
}

export const remove = mutation({
  name: 'secret.delete',
  summary: 'Delete a secret here; in an external store it stays',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.deleted',
  input: DeleteSecret,
  output: DeletedSecret,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    // A deploy that names the secret locks the same row: either it is seen here, or it finds the secret gone.
    await lockEnvironment(ctx.db, input.environmentId);
    const secret = await findSecret(ctx.db, input.environmentId, input.id);
    if (!secret) throw notFound('Secret');
    assertUnused(secret, (await readSecretUsers(ctx.db, input.environmentId))(secret.variable));
    await deleteSecret(ctx.db, input.id);
    ctx.audit({ entityType: 'Secret', entityId: input.id, metadata: { name: secret.name } });
    await publishChange(ctx, input.environmentId, 'secret deleted');
    return { deleted: true as const, stillInStore: secret.fetchedAt !== null };
  },
});

export const refresh = mutation({
  name: 'secret.refresh',
  summary: 'Fetch the values from the external store now instead of at the next refresh',
  role: 'EDITOR',
  audit: 'secret.refreshAsked',
  input: EnvironmentId,
  output: Done,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const state = await readBackend(ctx.db, environmentId);
    if (!state || !isExternal(state))
      throw preconditionFailed(
        'This environment stores its secrets in Headgate itself: there is no external store to refresh from',
      );
    ctx.audit({ entityType: 'Environment', entityId: environmentId, environmentId });
    await ctx.services.bus.publish(ctx.db, {
      ...{ type: 'wake', loop: SECRETS_LOOP, key: environmentId, trigger: 'asked for' },
    });
    return { ok: true as const };
  },
});
