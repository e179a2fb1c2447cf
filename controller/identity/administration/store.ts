/** All users, teams and groups for super admins, and the account columns that only administration writes. */
import type { Knex } from 'knex';
import type { GroupOverview, TeamOverview, UserSummary } from '../../../schemas/api/identity/people.ts';
import {
  type AccessPolicy,
  accessPolicyOf,
  CONFIRMATION,
  confirmationOf,
  restsAt,
  STORED_POLICY,
  type StoredConfirmation,
} from '../access/index.ts';

/** One statement, whatever the number of users. */
export async function listUsers(db: Knex): Promise<UserSummary[]> {
  type Row = UserSummary & { confirmation: StoredConfirmation; policy: Partial<AccessPolicy> | null };
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT u.id, u.name, u.email, u.auth_method AS "authMethod", u.is_super_admin AS "isSuperAdmin",
       u.totp_enabled AS "twoFactorEnabled", u.locked_at AS "lockedAt",
       CASE WHEN u.locked_at IS NOT NULL THEN COALESCE(u.locked_by, 'admin') END AS "lockedBy",
       s.user_id IS NOT NULL AS provisioned, u.must_change_password AS "mustChangePassword",
       u.created_at AS "createdAt", u.last_sign_in_at AS "lastSignInAt",
       COALESCE(t.teams, '[]') AS teams, COALESCE(g.groups, '{}') AS groups, COALESCE(i.issuers, '{}') AS "linkedTo",
       ${CONFIRMATION} AS confirmation, ${STORED_POLICY} AS policy
     FROM users u
     LEFT JOIN scim_users s ON s.user_id = u.id AND s.deleted_at IS NULL
     LEFT JOIN (
       SELECT m.user_id, jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'role', m.role, 'source', m.source)
         ORDER BY lower(t.name)) AS teams
       FROM team_members m JOIN teams t ON t.id = m.team_id GROUP BY m.user_id
     ) t ON t.user_id = u.id
     LEFT JOIN (
       SELECT m.user_id, array_agg(DISTINCT g.display_name ORDER BY g.display_name) AS groups
       FROM directory_group_members m JOIN directory_groups g ON g.id = m.group_id GROUP BY m.user_id
     ) g ON g.user_id = u.id
     LEFT JOIN (
       SELECT user_id, array_agg(DISTINCT issuer ORDER BY issuer) AS issuers FROM user_identities GROUP BY user_id
     ) i ON i.user_id = u.id
     ORDER BY lower(u.name), lower(u.email)`,
  );
  return rows.map(({ confirmation: stored, policy: storedPolicy, ...user }) => {
    const policy = accessPolicyOf(storedPolicy);
    const confirmation = confirmationOf(stored, policy);
    const at = restsAt(confirmation, policy);
    const rests = at && (confirmation.hasPassword ? 'roles' : 'account');
    return { ...user, confirmedAt: confirmation.confirmedAt, restsAt: at, rests };
  });
}

export async function listAllTeams(db: Knex): Promise<TeamOverview[]> {
  const { rows } = await db.raw<{ rows: TeamOverview[] }>(
    `SELECT t.id, t.name, t.require_two_factor AS "requireTwoFactor", t.created_at AS "createdAt",
       COALESCE(m.members, 0) AS "memberCount", COALESCE(m.admins, 0) AS "adminCount",
       (SELECT count(*) FROM environments e WHERE e.team_id = t.id) AS "environmentCount"
     FROM teams t
     LEFT JOIN (
       SELECT m.team_id, count(*) AS members, count(*) FILTER (WHERE m.role = 'ADMIN' AND u.locked_at IS NULL) AS admins
       FROM team_members m JOIN users u ON u.id = m.user_id GROUP BY m.team_id
     ) m ON m.team_id = t.id
     ORDER BY lower(t.name)`,
  );
  return rows;
}

/** Groups by name, whatever their source. A group from the claims of sign-ins exists only while it has members. */
export async function listAllGroups(db: Knex): Promise<GroupOverview[]> {
  const { rows } = await db.raw<{ rows: GroupOverview[] }>(
    `SELECT g.display_name AS name, count(DISTINCT m.user_id) AS "memberCount"
     FROM directory_groups g LEFT JOIN directory_group_members m ON m.group_id = g.id
     GROUP BY g.display_name HAVING bool_or(g.source = 'scim') OR count(m.user_id) > 0
     ORDER BY lower(g.display_name), g.display_name`,
  );
  return rows;
}

/** Names of the groups that put a user into a team; none where it is the default team. */
export async function listGroupsInto(
  db: Knex,
  member: { teamId: string; userId: string },
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `SELECT DISTINCT g.display_name AS name FROM directory_group_members m
     JOIN directory_groups g ON g.id = m.group_id
     JOIN team_mappings t ON t.group_name = g.display_name AND t.team_id = :teamId
     WHERE m.user_id = :userId AND (g.source = 'scim' OR (SELECT group_sync_enabled FROM group_settings))
     ORDER BY name LIMIT 10`,
    member,
  );
  return rows.map(({ name }) => name);
}

export interface Provisioning {
  /** Whether the identity provider reports the account as active, independent of locks by others. */
  active: boolean;
  /** Deleted by the provider. */
  deleted: boolean;
}

/** Null for an account that SCIM does not manage. */
export async function findProvisioning(db: Knex, userId: string): Promise<Provisioning | null> {
  const { rows } = await db.raw<{ rows: Provisioning[] }>(
    'SELECT active, deleted_at IS NOT NULL AS deleted FROM scim_users WHERE user_id = ?',
    [userId],
  );
  return rows[0] ?? null;
}

/** A lock of SCIM becomes a lock of an administrator, which SCIM does not lift. */
export async function takeOverLock(tx: Knex, userId: string): Promise<void> {
  await tx('users')
    .where({ id: userId, locked_by: 'scim' })
    .update({ locked_by: 'admin', updated_at: tx.fn.now() });
}
