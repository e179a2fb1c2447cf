import {
  CreatedServiceAccount,
  CreateServiceAccount,
  DeletedServiceAccount,
  ListServiceAccounts,
  PERMISSIONS,
  ServiceAccount,
  ServiceAccountId,
  ServiceAccountList,
} from '../../../../schemas/api/identity/service-accounts.ts';
import { mintToken } from '../../../platform/crypto/tokens.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { environmentScope, objectScope } from '../scope-queries.ts';
import {
  countServiceAccountsLocked,
  deleteServiceAccount,
  findServiceAccount,
  insertServiceAccount,
  listServiceAccounts,
  revokeServiceAccount,
} from './store.ts';

const DAY_MS = 86_400_000;
/** Per environment, revoked accounts included. The list is not paged. */
const MAX_ACCOUNTS = 200;

async function getExisting(ctx: Context, id: string): Promise<ServiceAccount> {
  const account = await findServiceAccount(ctx.db, id);
  if (!account) throw notFound('Service account');
  return account;
}

async function notifyUi(ctx: MutationContext, environmentId: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['environments'] });
}

export const list = query({
  name: 'serviceAccount.list',
  summary: 'Service accounts of an environment, without their keys',
  role: 'ADMIN',
  input: ListServiceAccounts,
  output: ServiceAccountList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => listServiceAccounts(ctx.db, input.environmentId),
});

export const create = mutation({
  name: 'serviceAccount.create',
  summary: 'Create a key for a program, for one environment; shown once',
  role: 'ADMIN',
  audit: 'serviceAccount.created',
  input: CreateServiceAccount,
  output: CreatedServiceAccount,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const { environmentId, name } = input;
    if ((await countServiceAccountsLocked(ctx.db, environmentId)) >= MAX_ACCOUNTS) {
      throw preconditionFailed(
        `This environment has ${MAX_ACCOUNTS} service accounts, revoked ones included; delete some first`,
      );
    }
    const minted = mintToken('svc');
    const now = ctx.clock.now();
    const expiresAt = input.expiresInDays ? new Date(now + input.expiresInDays * DAY_MS) : null;
    const permissions = PERMISSIONS.filter((permission) => input.permissions.includes(permission));
    await insertServiceAccount(ctx.db, {
      id: minted.id,
      environmentId,
      name,
      description: input.description ?? null,
      keyHash: minted.hash,
      permissions,
      createdById: ctx.actor.type === 'user' ? ctx.actor.userId : null,
      createdAt: new Date(now),
      expiresAt,
    });
    ctx.audit({
      entityType: 'ServiceAccount',
      entityId: minted.id,
      metadata: { name, permissions, expiresAt },
    });
    await notifyUi(ctx, environmentId);
    return { ...(await getExisting(ctx, minted.id)), key: minted.token };
  },
});

export const revoke = mutation({
  name: 'serviceAccount.revoke',
  summary: 'End a key at once and keep its row; its name is free again',
  role: 'ADMIN',
  audit: 'serviceAccount.revoked',
  input: ServiceAccountId,
  output: ServiceAccount,
  scope: (ctx, input) => objectScope(ctx, 'Service account', input.id),
  async run(ctx, input) {
    await revokeServiceAccount(ctx.db, input.id, new Date(ctx.clock.now()));
    const account = await getExisting(ctx, input.id);
    ctx.audit({ entityType: 'ServiceAccount', entityId: input.id, metadata: { name: account.name } });
    await notifyUi(ctx, account.environmentId);
    return account;
  },
});

export const remove = mutation({
  name: 'serviceAccount.delete',
  summary: 'End a key at once and delete its row',
  role: 'ADMIN',
  audit: 'serviceAccount.deleted',
  input: ServiceAccountId,
  output: DeletedServiceAccount,
  scope: (ctx, input) => objectScope(ctx, 'Service account', input.id),
  async run(ctx, input) {
    const account = await getExisting(ctx, input.id);
    if (!(await deleteServiceAccount(ctx.db, input.id))) throw notFound('Service account');
    ctx.audit({ entityType: 'ServiceAccount', entityId: input.id, metadata: { name: account.name } });
    await notifyUi(ctx, account.environmentId);
    return { deleted: true as const };
  },
});
