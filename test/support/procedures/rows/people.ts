import type { Role } from '../../../../schemas/api/common.ts';
import type { Side } from '../../scenes/two-teams.ts';
import { makeUser, NOTHING, type TestUser } from '../../users/person.ts';
import { fresh, type Row, type Rows } from './row.ts';

let made = 0;
/** Procedures are tried one after the other and all at once: a number of its own a person. */
const freshPerson = (side: Side, role?: Role): Promise<string> =>
  makeUser(side.db, {
    email: `short-lived-${++made}@example.org`,
    teams: role ? { [side.teamId]: role } : {},
  });

/** Somebody who is in the team and in no other. */
const member = (side: Side, role: Role = 'VIEWER') =>
  freshPerson(side, role).then((userId) => ({ teamId: side.teamId, userId }));
const ofMember: Row = { names: 'scope', input: (side) => member(side) };

const ofUser: Row = { names: 'own', input: async (side) => ({ userId: await freshPerson(side) }) };
const lock = (side: Side, userId: string) =>
  side.db('users').where({ id: userId }).update({ locked_at: new Date(), locked_by: 'admin' });

const freshTeam = (_: Side, n: number, root: TestUser) =>
  fresh(root, 'team.create', { name: `Team for ${n}` });

export const PEOPLE: Rows = {
  'team.get': { names: 'object', input: ({ teamId }) => ({ id: teamId }) },
  'team.myRole': { names: 'own', input: () => NOTHING },
  'team.teamRole': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'team.delete': {
    names: 'own',
    input: async (side, n, root) => ({ teamId: await freshTeam(side, n, root) }),
  },
  'team.rename': { names: 'scope', input: ({ teamId }, n) => ({ teamId, name: `renamed ${n}` }) },
  'team.addMember': {
    names: 'scope',
    input: async (side) => {
      const { email } = await side
        .db('users')
        .where({ id: await freshPerson(side) })
        .first('email');
      return { teamId: side.teamId, email, role: 'EDITOR' };
    },
  },
  'team.removeMember': ofMember,
  'team.updateMemberRole': {
    names: 'scope',
    input: async (side) => ({ ...(await member(side)), role: 'EDITOR' }),
  },
  'team.lockMember': ofMember,
  'team.unlockMember': {
    names: 'scope',
    input: async (side) => {
      const input = await member(side);
      await lock(side, input.userId);
      return input;
    },
  },
  'team.resetMemberPassword': ofMember,
  'team.updateRequireTwoFactor': {
    names: 'scope',
    input: ({ teamId }) => ({ teamId, requireTwoFactor: false }),
  },
  'admin.listUsers': { names: 'own', input: () => NOTHING },
  'admin.listGroups': { names: 'own', input: () => NOTHING },
  'admin.listTeams': { names: 'own', input: () => NOTHING },
  'admin.createUser': {
    names: 'own',
    input: ({ teamId }, n) => ({ email: `made-${n}@example.org`, name: `Made ${n}`, teamId, role: 'EDITOR' }),
  },
  'admin.deleteUser': ofUser,
  'admin.toggleSuperAdmin': {
    names: 'own',
    input: async (side) => ({ userId: await freshPerson(side), isSuperAdmin: true }),
  },
  'admin.assignToTeam': {
    names: 'own',
    input: async (side) => ({ userId: await freshPerson(side), teamId: side.teamId, role: 'EDITOR' }),
  },
  'admin.removeFromTeam': { names: 'own', input: (side) => member(side) },
  'admin.lockUser': ofUser,
  'admin.unlockUser': {
    names: 'own',
    input: async (side) => {
      const userId = await freshPerson(side);
      await lock(side, userId);
      return { userId };
    },
  },
  'admin.resetPassword': ofUser,
  'admin.resetTwoFactor': {
    names: 'own',
    input: async (side) => {
      const userId = await freshPerson(side);
      await side.db('users').where({ id: userId }).update({ totp_enabled: true });
      return { userId };
    },
  },
  'admin.unlinkProvider': {
    names: 'own',
    input: async (side) => {
      // In a team by hand, so that no rule of groups leads them anywhere when the link stays.
      const userId = await freshPerson(side, 'VIEWER');
      await side
        .db('user_identities')
        .insert({ issuer: 'https://id.example.org', subject: userId, user_id: userId });
      return { userId };
    },
  },
  'admin.unlinkIssuer': {
    names: 'own',
    input: async (side, n) => {
      const userId = await freshPerson(side, 'VIEWER');
      const issuer = `https://id-${n}.example.org`;
      await side.db('user_identities').insert({ issuer, subject: userId, user_id: userId });
      return { issuer };
    },
  },
  'admin.endSessions': ofUser,
  'settings.get': { names: 'own', input: () => NOTHING },
  'settings.updateAccess': {
    names: 'own',
    input: (_, n) => ({ confirmationDays: 30, tokenMaxDays: 300 + (n % 3_000) }),
  },
  'settings.updateAnomalyConfig': {
    names: 'own',
    input: (_, n) => ({
      ...{ baselineWindowDays: 7, sigmaThreshold: 3, minStddevFloorPercent: 5 },
      ...{ dedupWindowHours: 1 + (n % 168), enabledMetrics: 'eventsIn,errors,latency' },
    }),
  },
  'settings.updateFleet': {
    names: 'own',
    input: () => ({
      ...{ pollIntervalMs: 5_000, unhealthyThreshold: 3 },
      ...{ metricsRetentionDays: 7, logsRetentionDays: 3 },
    }),
  },
};
