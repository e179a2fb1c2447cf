import { expect } from 'chai';
import { GROUP, has, nobody, type ProviderRun, patch, query, USER } from './run.ts';

const FORM = 'nothing that JumpCloud shows: its pages tell what is done, and have no request';

/**
 * jumpcloud.com, "Identity Management using a Custom SCIM Integration" and pages of single integrations: a test makes a user
 * and a group and deletes both; users are looked up first, a group is taken over where there is one of its name.
 */
export const JUMPCLOUD: ProviderRun = {
  provider: 'JumpCloud',
  headers: { 'content-type': 'application/scim+json' },
  steps: [
    {
      why: 'looks the user up',
      method: 'GET',
      path: `/Users${query('userName eq "test-user@jumpcloud.example"')}`,
      status: 200,
      knownFrom: FORM,
      expect: nobody,
    },
    {
      why: 'makes a test user',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER],
        ...{ userName: 'test-user@jumpcloud.example', active: true, displayName: '' },
        name: { familyName: 'User', givenName: 'Test' },
        emails: [{ value: 'test-user@jumpcloud.example', primary: true, type: 'work' }],
      },
      status: 201,
      keep: 'test',
      knownFrom: FORM,
    },
    {
      why: 'deactivates it',
      method: 'PUT',
      path: '/Users/{test}',
      body: { schemas: [USER], userName: 'test-user@jumpcloud.example', active: false },
      status: 200,
      knownFrom: FORM,
      expect: has({ active: false }),
    },
    {
      why: 'looks for a group of its name',
      method: 'GET',
      path: `/Groups${query('displayName eq "Test group"')}`,
      status: 200,
      knownFrom: FORM,
      expect: nobody,
    },
    {
      why: 'makes a test group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [GROUP], displayName: 'Test group', members: [] },
      status: 201,
      keep: 'group',
      knownFrom: FORM,
    },
    {
      why: 'adds a member',
      ...patch({ op: 'add', path: 'members', value: [{ value: '{test}' }] }),
      path: '/Groups/{group}',
      status: 204,
      knownFrom: FORM,
    },
    {
      why: 'removes it by its value',
      ...patch({ op: 'remove', path: 'members', value: [{ value: '{test}' }] }),
      path: '/Groups/{group}',
      status: 204,
      knownFrom: FORM,
    },
    { why: 'deletes the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
    { why: 'deletes the user', method: 'DELETE', path: '/Users/{test}', status: 204 },
    {
      why: 'makes it again at the next test',
      method: 'POST',
      path: '/Users',
      body: { schemas: [USER], userName: 'test-user@jumpcloud.example', active: true },
      status: 201,
      knownFrom: FORM,
      expect: (body, ids) => expect(body.id).to.equal(ids.test),
    },
  ],
};
