/** Memberships of teams. */
import type { Knex } from 'knex';
import type { Role } from '../../../schemas/api/common.ts';
import type { TeamMember } from '../../../schemas/api/identity/people.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';
import type { TargetAccount } from './account-reach.ts';

export interface Membership {
  role: Role;
  /** `group`: group sync created it and changes it. */
  source: 'manual' | 'group';
}

/** `vouched`: by a super admin. @throws CONFLICT where the user is a member already. */
export async function addMember(
  db: Knex,
  teamId: string,
  userId: string,
  role: Role,
  vouched = true,
): Promise<void> {
  try {
    await db('team_members').insert({ team_id: teamId, user_id: userId, role, vouched });
  } catch (error) {
    if (brokeUnique(error)) throw conflict('This user is in the team already');
    throw error;
  }
}

/** Locks the membership until the transaction ends. */
export async function lockMembership(
  tx: Knex,
  of: { teamId: string; userId: string },
): Promise<Membership | null> {
  const row: Membership | undefined = await tx('team_members')
    .where({ team_id: of.teamId, user_id: of.userId })
    .forUpdate()
    .first('role', 'source');
  return row ?? null;
}

/** Makes the membership manual, so that group sync no longer changes it. `vouched`: by a super admin. */
export async function setRole(
  tx: Knex,
  of: { teamId: string; userId: string },
  role: Role,
  vouched: boolean,
): Promise<void> {
  await tx('team_members')
    .where({ team_id: of.teamId, user_id: of.userId })
    .update({ role, source: 'manual', ...(vouched ? { vouched } : {}) });
}

export async function deleteMembership(tx: Knex, of: { teamId: string; userId: string }): Promise<void> {
  await tx('team_members').where({ team_id: of.teamId, user_id: of.userId }).delete();
}

export type MemberScope = Pick<TargetAccount, 'teamIds' | 'vouched'>;

export type MemberRow = Omit<TeamMember, 'accountOutOfReach'> & MemberScope;

export async function listMembers(db: Knex, teamId: string): Promise<MemberRow[]> {
  const { rows } = await db.raw<{ rows: MemberRow[] }>(
    `SELECT m.user_id AS "userId", u.name, u.email, m.role, m.source, u.auth_method AS "authMethod",
       u.totp_enabled AS "twoFactorEnabled", u.is_super_admin AS "isSuperAdmin", u.locked_at AS "lockedAt",
       CASE WHEN u.locked_at IS NOT NULL THEN COALESCE(u.locked_by, 'admin') END AS "lockedBy",
       u.last_sign_in_at AS "lastSignInAt",
       (SELECT array_agg(o.team_id) FROM team_members o WHERE o.user_id = m.user_id) AS "teamIds",
       (SELECT bool_or(o.vouched) FROM team_members o WHERE o.user_id = m.user_id) AS vouched
     FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ? ORDER BY lower(u.name), lower(u.email)`,
    [teamId],
  );
  return rows;
}

/** The facts on which `outOfReachReason` depends. */
export async function readMemberScope(db: Knex, userId: string): Promise<MemberScope> {
  const rows: { team_id: string; vouched: boolean }[] = await db('team_members')
    .where({ user_id: userId })
    .select('team_id', 'vouched');
  return { teamIds: rows.map(({ team_id }) => team_id), vouched: rows.some(({ vouched }) => vouched) };
}

export async function listMemberIds(db: Knex, teamId: string): Promise<string[]> {
  const rows: { user_id: string }[] = await db('team_members').where({ team_id: teamId }).select('user_id');
  return rows.map(({ user_id }) => user_id);
}

/** Teams in which the user is ADMIN, by id: the order in which they must be locked. */
export async function listTeamsLedBy(db: Knex, userId: string): Promise<string[]> {
  const rows: { team_id: string }[] = await db('team_members')
    .where({ user_id: userId, role: 'ADMIN' })
    .orderBy('team_id')
    .select('team_id');
  return rows.map(({ team_id }) => team_id);
}

/** Names of the given teams without an ADMIN who can sign in. Call it under `lockTeam`. */
export async function listWithoutAdmin(db: Knex, teamIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `SELECT t.name FROM teams t WHERE t.id = ANY(?::text[]) AND NOT EXISTS (
       SELECT 1 FROM team_members m JOIN users u ON u.id = m.user_id
       WHERE m.team_id = t.id AND m.role = 'ADMIN' AND u.locked_at IS NULL)
     ORDER BY lower(t.name)`,
    [[...teamIds]],
  );
  return rows.map(({ name }) => name);
}
