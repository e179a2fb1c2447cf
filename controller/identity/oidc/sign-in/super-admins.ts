/** Super admins by a group of their provider, for as long as they are members. Manually appointed super admins stay. */

import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { endSessions } from '../../access/index.ts';
import type { OidcProvider } from '../provider/provider-store.ts';
import { prefixed } from './group-rules.ts';
import { writeSuperAdmins } from './super-admins-store.ts';

/**
 * Reconciles super admins with the groups of a provider, for all users or for some. Call it in a transaction that holds the group
 * rules, after the groups were written. The last super admin may lose the right too: `headgate recover` makes another one.
 */
export async function reconcileSuperAdmins(
  ctx: Context,
  provider: Pick<OidcProvider, 'issuer' | 'options'>,
  userIds: readonly string[] | null,
): Promise<void> {
  const { granted, revoked } = await writeSuperAdmins(ctx.db, {
    ...{ issuer: provider.issuer, userIds },
    names: prefixed(provider.options.superAdminGroups, provider.options),
  });
  const changes = [
    ...granted.map((user) => ({ user, is: true })),
    ...revoked.map((user) => ({ user, is: false })),
  ];
  if (changes.length === 0) return;
  await writeAudit(
    { ...ctx, actor: { type: 'system', name: 'identity provider' } },
    ownScope,
    changes.map(({ user: { id, name, email }, is }) => ({
      ...{ entityType: 'User', entityId: id, diff: { isSuperAdmin: [!is, is] } },
      metadata: { name, email, by: 'group', issuer: provider.issuer },
    })),
    'user.superAdminChanged',
  );
  await endSessions(
    ctx,
    changes.map(({ user }) => user.id),
  );
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}
