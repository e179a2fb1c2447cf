/** Super admins by a group of their provider: for as long as they are in it. Those whom somebody has made one stay. */
import type { Knex } from 'knex';
import { endSessions } from '../access/index.ts';
import { writeAudit } from '../platform/audit-writer.ts';
import type { Context } from '../platform/context.ts';
import { ownScope } from '../platform/operation.ts';
import { prefixed } from './group-rules.ts';
import type { OidcProvider } from './store.ts';

interface Followed {
  id: string;
  name: string;
  email: string;
}

const IN_GROUP = `SELECT m.user_id FROM directory_group_members m JOIN directory_groups g ON g.id = m.group_id
  WHERE g.source = 'oidc' AND m.issuer = :issuer AND g.display_name = ANY(:names::text[])`;

/**
 * In a transaction that holds the rules of groups, after the groups were written. Of everybody, or of some. Nobody is kept
 * because he is the last: `headgate recover` makes another one.
 */
export async function followSuperAdmins(
  ctx: Context,
  provider: Pick<OidcProvider, 'issuer' | 'options'>,
  userIds: readonly string[] | null,
): Promise<void> {
  const bound = {
    ...{ issuer: provider.issuer, userIds: userIds && [...userIds] },
    names: prefixed(provider.options.superAdminGroups, provider.options),
  };
  const who = '(:userIds::text[] IS NULL OR id = ANY(:userIds))';
  const made = await ctx.db.raw<{ rows: Followed[] }>(
    `UPDATE users SET is_super_admin = true, super_admin_by = :issuer, updated_at = now()
     WHERE NOT is_super_admin AND ${who} AND id IN (${IN_GROUP}) RETURNING id, name, email`,
    bound,
  );
  const unmade = await ctx.db.raw<{ rows: Followed[] }>(
    `UPDATE users SET is_super_admin = false, super_admin_by = NULL, updated_at = now()
     WHERE super_admin_by = :issuer AND ${who} AND id NOT IN (${IN_GROUP}) RETURNING id, name, email`,
    bound,
  );
  const changes = [
    ...made.rows.map((user) => ({ user, is: true })),
    ...unmade.rows.map((user) => ({ user, is: false })),
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

/** Of a link that is taken away: its audit row is that of the unlinking. */
export async function endSuperAdminsBy(
  tx: Knex,
  issuers: readonly string[],
  userIds: readonly string[],
): Promise<void> {
  await tx.raw(
    `UPDATE users SET is_super_admin = false, super_admin_by = NULL, updated_at = now()
     WHERE super_admin_by = ANY(?::text[]) AND id = ANY(?::text[])`,
    [[...issuers], [...userIds]],
  );
}
