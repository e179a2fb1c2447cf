/** Everybody who has an account, and their teams, as super admins decide. */
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
} from '../../../schemas/api/people.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import {
  deleteUser as deleteUserRow,
  findUser,
  insertUser,
  makeTemporaryPassword,
  updateUser,
} from '../access/index.ts';
import { grantsOf, readRules } from '../directory/index.ts';
import { listOidcProviders, prefixed } from '../oidc/index.ts';
import { listTeamsLedBy, lockMembership, lockTeam } from '../teams/index.ts';
import { aboutUser, assertNotLastSuperAdmin, claimAccount, endSessionsOf, notifyUi } from './accounts.ts';
import { assertNotLastAdmin, changeRole, joinTeam, leaveTeam } from './memberships.ts';
import { listAllGroups, listAllTeams, listUsers as listUserRows } from './store.ts';

export const listUsers = query({
  name: 'admin.listUsers',
  summary: 'Everybody who has an account, with teams and groups',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: UserList,
  scope: () => ownScope,
  run: (ctx) => listUserRows(ctx.db),
});

export const listTeams = query({
  name: 'admin.listTeams',
  summary: 'Every team, with how many are in it',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: TeamOverviewList,
  scope: () => ownScope,
  run: (ctx) => listAllTeams(ctx.db),
});

export const listGroups = query({
  name: 'admin.listGroups',
  summary: 'Every group of the identity provider, with how many are in it: empty ones too that SCIM keeps',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: GroupOverviewList,
  scope: () => ownScope,
  async run({ db }) {
    const rules = await readRules(db);
    const providers = await listOidcProviders(db);
    const ofSuperAdmins = new Set(
      providers.flatMap(({ options }) => prefixed(options.superAdminGroups, options)),
    );
    return (await listAllGroups(db)).map((group) => ({
      ...group,
      leadsTo: [...grantsOf({ groups: [group.name], signsInByOidc: false }, rules)].map(([teamId, role]) => ({
        ...{ teamId, role },
      })),
      superAdmins: ofSuperAdmins.has(group.name),
    }));
  },
});

export const createUser = mutation({
  name: 'admin.createUser',
  summary: 'Make an account with a temporary password, shown once; VIEWER in the team unless told',
  role: 'SUPER_ADMIN',
  audit: 'user.created',
  input: CreateUser,
  output: CreatedUser,
  scope(_, { teamId, role }) {
    if (role !== undefined && teamId === undefined)
      throw badRequest('role is of a team: name the team with teamId, or leave role out');
    return ownScope;
  },
  prepare: (ctx) => makeTemporaryPassword(ctx),
  async run(ctx, { email, teamId, role = 'VIEWER', ...input }, temporary) {
    const team = teamId === undefined ? null : await lockTeam(ctx.db, teamId);
    const name = input.name.trim();
    const id = await insertUser(ctx.db, {
      ...{ email, name, passwordHash: temporary.passwordHash, passwordExpiresAt: temporary.expiresAt },
      isSuperAdmin: false,
    });
    const user = await existing(ctx, id);
    ctx.audit(aboutUser(user, { diff: { email: [null, email], name: [null, name] } }));
    if (team) await joinTeam(ctx, { team, user }, role);
    await notifyUi(ctx);
    return { id, password: temporary.password, expiresAt: temporary.expiresAt };
  },
});

export const deleteUser = mutation({
  name: 'admin.deleteUser',
  summary: 'Delete an account for good; what it has done stays in the history',
  role: 'SUPER_ADMIN',
  audit: 'user.deleted',
  input: UserId,
  output: Deleted,
  scope: () => ownScope,
  async run(ctx, { userId }) {
    assertNotSelf(ctx, userId, 'delete');
    const led = await listTeamsLedBy(ctx.db, userId);
    for (const teamId of led) await lockTeam(ctx.db, teamId);
    const user = await claimAccount(ctx, userId);
    await endSessionsOf(ctx, [userId]);
    await deleteUserRow(ctx.db, userId);
    await assertNotLastSuperAdmin(ctx, user);
    await assertNotLastAdmin(ctx, led, { role: 'ADMIN', user });
    ctx.audit(aboutUser(user, { diff: { email: [user.email, null], name: [user.name, null] } }));
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});

export const toggleSuperAdmin = mutation({
  name: 'admin.toggleSuperAdmin',
  summary: 'Make somebody a super admin, or no longer one; their sessions end',
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
      aboutUser(
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
  summary:
    'Put somebody into a team, or give them another role there; group sync leaves it alone from then on',
  role: 'SUPER_ADMIN',
  audit: 'team.memberAdded',
  input: AssignToTeam,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { role, ...of }) {
    const team = await lockTeam(ctx.db, of.teamId);
    const user = await existing(ctx, of.userId);
    const membership = await lockMembership(ctx.db, of);
    if (membership) await changeRole(ctx, { team, user, membership }, role);
    else await joinTeam(ctx, { team, user }, role);
    return { ok: true as const };
  },
});

export const removeFromTeam = mutation({
  name: 'admin.removeFromTeam',
  summary: 'Take somebody out of a team; their sessions end',
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

async function existing(ctx: Context, userId: string) {
  const user = await findUser(ctx.db, userId);
  if (!user) throw notFound('User');
  return user;
}

/** Whoever does that to themselves by accident finds nobody who undoes it. */
export function assertNotSelf(ctx: Context, userId: string, what: string): void {
  if (ctx.actor.type === 'user' && ctx.actor.userId === userId)
    throw preconditionFailed(`You cannot ${what} your own account: another super admin can`);
}
