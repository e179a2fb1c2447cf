import {
  CreateSecret,
  DeletedSecret,
  DeleteSecret,
  EnvironmentId,
  SecretList,
  SecretSummary,
  UpdateSecret,
} from '../../schemas/api/environments.ts';
import { environmentScope } from '../access/index.ts';
import { bumpConfigRevision } from '../environments/index.ts';
import type { MutationContext } from '../platform/context.ts';
import { badRequest, notFound, preconditionFailed } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { mutation, query } from '../platform/operation.ts';
import {
  deleteSecret,
  deployedUsers,
  findSecret,
  insertSecret,
  listSecrets,
  updateSecretValue,
} from './store.ts';
import { secretVariable } from './variable.ts';

/** The engine takes secrets by environment variable. */
function refuseUnsendable(value: string): void {
  if (/[\r\n\0]/.test(value)) {
    throw badRequest(
      'A secret cannot hold a line break or NUL: it travels to the engine as an environment variable. Encode it (for example with base64) and decode it in the pipeline',
    );
  }
}

/** Nodes of the environment fetch anew, and the manifests that missed the secret are looked at again. */
async function secretsChanged(ctx: MutationContext, environmentId: string, reason: string): Promise<void> {
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
    const users = await deployedUsers(ctx.db, input.environmentId);
    const secrets = await listSecrets(ctx.db, input.environmentId);
    return secrets.map((secret) => ({ ...secret, usedBy: users.get(secret.variable) ?? [] }));
  },
});

export const create = mutation({
  name: 'secret.create',
  summary: 'Store a secret, encrypted',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.created',
  input: CreateSecret,
  output: SecretSummary,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    refuseUnsendable(input.value);
    const secret = await insertSecret(ctx.db, ctx.services.keyring, {
      id: newId(),
      environmentId: input.environmentId,
      name: input.name,
      variable: secretVariable(input.name),
      value: input.value,
    });
    ctx.audit({ entityType: 'Secret', entityId: secret.id, metadata: { name: input.name } });
    await secretsChanged(ctx, input.environmentId, 'secret created');
    return { ...secret, usedBy: [] };
  },
});

export const update = mutation({
  name: 'secret.update',
  summary: 'Replace the value of a secret; the pipelines that use it restart with the new one',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.updated',
  input: UpdateSecret,
  output: SecretSummary,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    refuseUnsendable(input.value);
    const before = await findSecret(ctx.db, input.environmentId, input.id);
    if (!before) throw notFound('Secret');
    await updateSecretValue(ctx.db, ctx.services.keyring, input.id, input.value);
    ctx.audit({ entityType: 'Secret', entityId: input.id, metadata: { name: before.name } });
    await secretsChanged(ctx, input.environmentId, 'secret updated');
    const after = (await findSecret(ctx.db, input.environmentId, input.id)) ?? before;
    const users = await deployedUsers(ctx.db, input.environmentId);
    return { ...after, usedBy: users.get(after.variable) ?? [] };
  },
});

export const remove = mutation({
  name: 'secret.delete',
  summary: 'Delete a secret',
  role: 'EDITOR',
  permission: 'secrets.manage',
  audit: 'secret.deleted',
  input: DeleteSecret,
  output: DeletedSecret,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const secret = await findSecret(ctx.db, input.environmentId, input.id);
    if (!secret) throw notFound('Secret');
    const users = (await deployedUsers(ctx.db, input.environmentId)).get(secret.variable) ?? [];
    if (users.length > 0) {
      throw preconditionFailed(
        `${secret.variable} is used by what is deployed: ${users.join(', ')}. Take the reference out of these pipelines first, or replace the value`,
      );
    }
    await deleteSecret(ctx.db, input.id);
    ctx.audit({ entityType: 'Secret', entityId: input.id, metadata: { name: secret.name } });
    await secretsChanged(ctx, input.environmentId, 'secret deleted');
    return { deleted: true as const };
  },
});
