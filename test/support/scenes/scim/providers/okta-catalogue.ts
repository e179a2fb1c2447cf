import { OKTA_HEADERS } from './okta.ts';
import { GROUP, has, membersAre, nobody, type ProviderRun, patch, query, USER } from './run.ts';

/**
 * developer.okta.com, "Okta and SCIM Version 2.0", of integrations from Okta's catalogue, its templates for SCIM 2.0 among
 * them: PATCH without a path activates and deactivates users, and PATCH changes groups.
 */
export const OKTA_CATALOGUE: ProviderRun = {
  provider: 'Okta, an integration from its catalogue',
  headers: OKTA_HEADERS,
  steps: [
    {
      why: 'asks whether the user is there',
      method: 'GET',
      path: `/Users${query('userName eq "dennis@okta.example"', '&startIndex=1&count=100')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'makes the user',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER],
        userName: 'dennis@okta.example',
        name: { givenName: 'Dennis', familyName: 'Ritchie' },
        emails: [{ primary: true, value: 'dennis@okta.example', type: 'work' }],
        ...{ displayName: 'Dennis Ritchie', locale: 'en-US', groups: [], password: '1mz050nq', active: true },
      },
      status: 201,
      keep: 'dennis',
    },
    {
      why: 'deactivates it',
      ...patch({ op: 'replace', value: { active: false } }),
      path: '/Users/{dennis}',
      status: 200,
      expect: has({ active: false }),
    },
    {
      why: 'activates it',
      ...patch({ op: 'replace', value: { active: true } }),
      path: '/Users/{dennis}',
      status: 200,
      knownFrom: 'the form of deactivation',
      expect: has({ active: true }),
    },
    {
      why: 'syncs the password',
      ...patch({ op: 'replace', value: { password: '1mz050nq' } }),
      path: '/Users/{dennis}',
      status: 200,
      knownFrom: 'the form of deactivation: Okta tells of this PATCH without showing it',
    },
    {
      why: 'pushes a group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [GROUP], displayName: 'Test SCIMv2', members: [] },
      status: 201,
      keep: 'group',
    },
    {
      why: 'renames it, with its id in the value',
      ...patch({ op: 'replace', value: { id: '{group}', displayName: 'Leads' } }),
      path: '/Groups/{group}',
      status: 204,
    },
    {
      why: 'removes and adds members in one request',
      ...patch(
        { op: 'remove', path: 'members[value eq "89bb1940-b905-4575-9e7f-6f887cfb368e"]' },
        { op: 'add', path: 'members', value: [{ value: '{dennis}', display: 'dennis@okta.example' }] },
      ),
      path: '/Groups/{group}',
      status: 204,
    },
    {
      why: 'reads the group',
      method: 'GET',
      path: '/Groups/{group}',
      status: 200,
      expect: membersAre('dennis'),
    },
    {
      why: 'pushes an empty group now',
      ...patch({ op: 'replace', path: 'members', value: [] }),
      path: '/Groups/{group}',
      status: 204,
      knownFrom: 'github.com/Captain-P-Goldfish/SCIM-SDK/issues/757; Okta shows it with members',
    },
    {
      why: 'pushes all members',
      ...patch({
        ...{ op: 'replace', path: 'members' },
        value: [{ value: '{dennis}', display: 'dennis@okta.example' }],
      }),
      path: '/Groups/{group}',
      status: 204,
    },
  ],
};
