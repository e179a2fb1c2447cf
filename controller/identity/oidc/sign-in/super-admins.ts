/** Super admins by a group of their provider: for as long as they are in it. Those whom somebody has made one stay. */

import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { endSessions } from '../../access/index.ts';
import type { OidcProvider } from '../provider/provider-store.ts';
import { prefixed } from './group-rules.ts';
import { writeSuperAdminsOf } from './super-admins-store.ts';

/**
 * In a transaction that holds the rules of groups, after the groups were written. Of everybody, or of some. Nobody is kept
 * because he is the last: `headgate recover` makes another one.
 */
export async function followSuperAdmins(
  ctx: Context,
  provider: Pick<OidcProvider, 'issuer' | 'options'>,
  userIds: readonly string[] | null,
): Promise<void> {
  const { made, unmade } = await writeSuperAdminsOf(ctx.db, {
    ...{ issuer: provider.issuer, userIds },
    names: prefixed(provider.options.superAdminGroups, provider.options),
  });
  const changes = [
    ...made.map((user) => ({ user, is: true })),
    ...unmade.map((user) => ({ user, is: false })),
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
