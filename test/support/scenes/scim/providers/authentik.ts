import { GROUP, has, membersAre, oneOf, type ProviderRun, patch, USER } from './run.ts';

const user = (name: string) => ({
  schemas: [USER],
  userName: name,
  name: { formatted: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
  ...{ photos: [], emails: [{ value: `${name}@authentik.example`, type: 'other', primary: true }] },
  externalId: `uid-${name}`,
});
const group = { schemas: [GROUP], displayName: 'Analysts', externalId: 'b2c3' };

/**
 * As authentik's SCIM client is written (github.com/goauthentik/authentik, `authentik/providers/scim/clients` and its default
 * mappings): it asks what the service can do; where that is PATCH, groups come without members, each of whom is an operation.
 */
export const AUTHENTIK: ProviderRun = {
  provider: 'authentik',
  headers: { 'content-type': 'application/json' },
  steps: [
    {
      why: 'asks what there is',
      method: 'GET',
      path: '/ServiceProviderConfig',
      status: 200,
      expect: has({ patch: { supported: true } }),
    },
    { why: 'makes a user', method: 'POST', path: '/Users', body: user('ada'), status: 201, keep: 'ada' },
    { why: 'makes a user', method: 'POST', path: '/Users', body: user('aug'), status: 201, keep: 'aug' },
    {
      why: 'changes a user',
      method: 'PUT',
      path: '/Users/{ada}',
      body: { ...user('ada'), id: '{ada}', locale: 'en' },
      status: 200,
      expect: has({ externalId: 'uid-ada' }),
    },
    { why: 'makes a group', method: 'POST', path: '/Groups', body: group, status: 201, keep: 'group' },
    { why: 'is told of one that is there', method: 'POST', path: '/Groups', body: group, status: 409 },
    {
      why: 'finds that one by its name',
      method: 'GET',
      path: '/Groups?filter=displayName+eq+%22Analysts%22',
      status: 200,
      expect: oneOf('group'),
    },
    {
      why: 'adds members, each by an operation',
      ...patch(
        { op: 'add', path: 'members', value: [{ value: '{ada}' }] },
        { op: 'add', path: 'members', value: [{ value: '{aug}' }] },
      ),
      path: '/Groups/{group}',
      status: 204,
    },
    {
      why: 'changes a group without a path',
      ...patch({ op: 'replace', value: { ...group, id: '{group}', displayName: 'Analytics' } }),
      path: '/Groups/{group}',
      status: 204,
    },
    {
      why: 'compares members',
      method: 'GET',
      path: '/Groups/{group}',
      status: 200,
      expect: membersAre('ada', 'aug'),
    },
    {
      why: 'removes a member',
      ...patch({ op: 'remove', path: 'members', value: [{ value: '{aug}' }] }),
      path: '/Groups/{group}',
      status: 204,
    },
    { why: 'looks at what is there', method: 'GET', path: '/Groups?startIndex=2', status: 200 },
    { why: 'deletes a user', method: 'DELETE', path: '/Users/{aug}', status: 204 },
    { why: 'deletes the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
  ],
};
