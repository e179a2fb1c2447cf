/** Super admins manage accounts and their teams. */
import { Deleted, NoInput } from '../../../schemas/api/common.ts';
import {
  AssignToTeam,
  CreatedUser,
  CreateUser,
  Done,
  GroupOverviewList,
  TeamOverviewList,
  ToggleSuperAdmin,
  UserId,
  UserInTeam,
  UserList,
} from '../../../schemas/api/identity/people.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import {
  assertStillSignedIn,
  createTemporaryPassword,
  deleteUser as deleteUserRow,
  findUser,
  insertUser,
  updateUser,
} from '../access/index.ts';
import { grantsOf, readRules } from '../directory/index.ts';
import { listOidcProviders, prefixed } from '../oidc/index.ts';
import { listTeamsLedBy, lockMembership, lockTeam } from '../teams/index.ts';
import { assertNotLastSuperAdmin, claimAccount, endSessionsOf, notifyUi, userEntry } from './accounts.ts';
import { assertNotLastAdmin, changeRole, joinTeam, leaveTeam } from './memberships.ts';
import { listAllGroups, listAllTeams, listUsers as listUserRows } from './store.ts';

export const listUsers = query({
  name: 'admin.listUsers',
  summary: 'All users, with their teams and groups',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: UserList,
  scope: () => ownScope,
  run: (ctx) => listUserRows(ctx.db),
});

export const listTeams = query({
  name: 'admin.listTeams',
  summary: 'All teams, with the number of members',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: TeamOverviewList,
  scope: () => ownScope,
  run: (ctx) => listAllTeams(ctx.db),
});

export const listGroups = query({
  name: 'admin.listGroups',
  summary: 'All groups of identity providers, with the number of members; empty groups of SCIM too',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: GroupOverviewList,
  scope: () => ownScope,
  async run({ db }) {
    const rules = await readRules(db);
    const providers = await listOidcProviders(db);
    const superAdminGroups = new Set(
      providers.flatMap(({ options }) => prefixed(options.superAdminGroups, options)),
    );
    return (await listAllGroups(db)).map((group) => ({
      ...group,
      leadsTo: [...grantsOf({ groups: [group.name], signsInByOidc: false }, rules)].map(([teamId, role]) => ({
        ...{ teamId, role },
      })),
      superAdmins: superAdminGroups.has(group.name),
    }));
  },
});

export const createUser = mutation({
  name: 'admin.createUser',
  summary: 'Create an account with a temporary password, shown once; VIEWER in the team by default',
  role: 'SUPER_ADMIN',
  audit: 'user.created',
  input: CreateUser,
  output: CreatedUser,
  scope(_, { teamId, role }) {
    if (role !== undefined && teamId === undefined)
      throw badRequest('role needs a team: set teamId, or leave role out');
    return ownScope;
  },
  prepare: (ctx) => createTemporaryPassword(ctx),
  async run(ctx, { email, teamId, role = 'VIEWER', ...input }, temporary) {
    const team = teamId === undefined ? null : await lockTeam(ctx.db, teamId);
    const name = input.name.trim();
    const id = await insertUser(ctx.db, {
      ...{ email, name, passwordHash: temporary.passwordHash, passwordExpiresAt: temporary.expiresAt },
      isSuperAdmin: false,
    });
    const user = await getExisting(ctx, id);
    ctx.audit(userEntry(user, { diff: { email: [null, email], name: [null, name] } }));
    if (team) await joinTeam(ctx, { team, user }, role);
    await notifyUi(ctx);
    return { id, password: temporary.password, expiresAt: temporary.expiresAt };
  },
});

export const deleteUser = mutation({
  name: 'admin.deleteUser',
  summary: 'Delete an account for good; its actions stay in the history',
  role: 'SUPER_ADMIN',
  audit: 'user.deleted',
  input: UserId,
  output: Deleted,
  scope: () => ownScope,
  async run(ctx, { userId }) {
    assertNotSelf(ctx, userId, 'delete');
    const ledTeams = await listTeamsLedBy(ctx.db, userId);
    for (const teamId of ledTeams) await lockTeam(ctx.db, teamId);
    const user = await claimAccount(ctx, userId);
    await endSessionsOf(ctx, [userId]);
    await deleteUserRow(ctx.db, userId);
    await assertNotLastSuperAdmin(ctx, user);
    await assertNotLastAdmin(ctx, ledTeams, { role: 'ADMIN', user });
    ctx.audit(userEntry(user, { diff: { email: [user.email, null], name: [user.name, null] } }));
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});

export const toggleSuperAdmin = mutation({
  name: 'admin.toggleSuperAdmin',
  summary: 'Make a user a super admin, or revoke it; their sessions end',
  role: 'SUPER_ADMIN',
  audit: 'user.superAdminChanged',
  input: ToggleSuperAdmin,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { userId, isSuperAdmin }) {
    const user = await claimAccount(ctx, userId);
    if (user.isSuperAdmin !== isSuperAdmin) {
      await updateUser(ctx.db, userId, { isSuperAdmin });
      await assertNotLastSuperAdmin(ctx, user);
      await endSessionsOf(ctx, [userId]);
    }
    ctx.audit(
      userEntry(
        user,
        user.isSuperAdmin === isSuperAdmin
          ? {}
          : { diff: { isSuperAdmin: [user.isSuperAdmin, isSuperAdmin] } },
      ),
    );
    await notifyUi(ctx);
    return { ok: true as const };
  },
});

export const assignToTeam = mutation({
  name: 'admin.assignToTeam',
  summary: 'Add a user to a team, or change their role; group sync no longer changes the membership',
  role: 'SUPER_ADMIN',
  audit: 'team.memberAdded',
  input: AssignToTeam,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { role, ...member }) {
    const team = await lockTeam(ctx.db, member.teamId);
    await assertStillSignedIn(ctx);
    const user = await getExisting(ctx, member.userId);
    const membership = await lockMembership(ctx.db, member);
    if (membership) await changeRole(ctx, { team, user, membership }, role);
    else await joinTeam(ctx, { team, user }, role);
    return { ok: true as const };
  },
});

export const removeFromTeam = mutation({
  name: 'admin.removeFromTeam',
  summary: 'Remove a user from a team; their sessions end',
  role: 'SUPER_ADMIN',
  audit: 'team.memberRemoved',
  input: UserInTeam,
  output: Done,
  scope: () => ownScope,
  async run(ctx, input) {
    await leaveTeam(ctx, input);
    return { ok: true as const };
  },
});

async function getExisting(ctx: Context, userId: string) {
  const user = await findUser(ctx.db, userId);
  if (!user) throw notFound('User');
  return user;
}

/** A super admin who does this to their own account by accident could not revert it. */
export function assertNotSelf(ctx: Context, userId: string, what: string): void {
  if (ctx.actor.type === 'user' && ctx.actor.userId === userId)
    throw preconditionFailed(`You cannot ${what} your own account: ask another super admin`);
}
