/** Users, teams, sessions and tokens. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../client.ts';
import { live } from './live.ts';

export const peopleQueries = {
  me: () =>
    queryOptions({ queryKey: ['user.me'], queryFn: () => api.user.me.query({}), meta: live(['teams']) }),
  /** Of the person: their browsers that are signed in. */
  sessions: () =>
    queryOptions({
      queryKey: ['user.listSessions'],
      queryFn: () => api.user.listSessions.query({}),
      meta: live(['teams']),
    }),
  tokens: () => queryOptions({ queryKey: ['user.listTokens'], queryFn: () => api.user.listTokens.query({}) }),
  teams: () =>
    queryOptions({ queryKey: ['team.list'], queryFn: () => api.team.list.query({}), meta: live(['teams']) }),
  /** With its members. */
  team: (id: string) =>
    queryOptions({
      queryKey: ['team.get', id],
      queryFn: () => api.team.get.query({ id }),
      meta: live(['teams', 'environments']),
    }),
  /** For super admins alone, like all teams and the settings. */
  users: () =>
    queryOptions({
      queryKey: ['admin.listUsers'],
      queryFn: () => api.admin.listUsers.query({}),
      meta: live(['teams']),
    }),
  allTeams: () =>
    queryOptions({
      queryKey: ['admin.listTeams'],
      queryFn: () => api.admin.listTeams.query({}),
      meta: live(['teams', 'environments']),
    }),
  /** Of identity providers, empty ones of SCIM too. */
  allGroups: () =>
    queryOptions({
      queryKey: ['admin.listGroups'],
      queryFn: () => api.admin.listGroups.query({}),
      meta: live(['teams']),
    }),
  scimRefusals: () =>
    queryOptions({
      queryKey: ['settings.scimRefusals'],
      queryFn: () => api.settings.scimRefusals.query({}),
      meta: live(['settings', 'teams']),
    }),
};
