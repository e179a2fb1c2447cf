import { expect } from 'chai';
import type { Json } from '../client.ts';
import { GROUP, has, nobody, oneOf, PATCH, type ProviderRun, query, USER } from './run.ts';

/**
 * developer.okta.com, "Okta and SCIM Version 2.0": a look at two users, PUT of the whole user, deactivation by PATCH without
 * a path or by PUT, and never DELETE of a user; groups by "push", renamed without a path, "push now" replaces the members.
 */
export const OKTA: ProviderRun = {
  provider: 'Okta',
  headers: { 'content-type': 'application/scim+json', 'user-agent': 'Okta SCIM Client 1.0.0' },
  steps: [
    { why: 'looks', method: 'GET', path: '/Users?startIndex=1&count=2', status: 200 },
    { why: 'looks at groups', method: 'GET', path: '/Groups?startIndex=1&count=100', status: 200 },
    {
      why: 'asks whether the user is there',
      method: 'GET',
      path: `/Users${query('userName eq "ken@okta.example"', '&startIndex=1&count=100')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'makes the user',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER],
        userName: 'ken@okta.example',
        name: { givenName: 'Ken', familyName: 'Thompson' },
        emails: [{ primary: true, value: 'ken@okta.example', type: 'work' }],
        displayName: 'Ken Thompson',
        locale: 'en-US',
        externalId: '00ujl29u0le5T6Aj10h7',
        groups: [],
        password: '1mz050nq',
        active: true,
      },
      status: 201,
      keep: 'ken',
      expect: has({ externalId: '00ujl29u0le5T6Aj10h7', groups: [] }),
    },
    {
      why: 'makes it a second time, and is told that it is there',
      method: 'POST',
      path: '/Users',
      body: { schemas: [USER], userName: 'ken@okta.example', active: true },
      status: 409,
      expect: has({ scimType: 'uniqueness', status: '409' }),
    },
    {
      why: 'replaces the user whole, as it was read',
      method: 'PUT',
      path: '/Users/{ken}',
      body: {
        schemas: [USER],
        id: '{ken}',
        userName: 'ken@okta.example',
        name: { givenName: 'Ken', familyName: 'T.' },
        emails: [{ primary: true, value: 'ken@okta.example', type: 'work', display: 'ken@okta.example' }],
        active: true,
        groups: [],
        meta: { resourceType: 'User' },
      },
      status: 200,
      expect: has({ name: { givenName: 'Ken', familyName: 'T.' }, externalId: '00ujl29u0le5T6Aj10h7' }),
    },
    {
      why: 'deactivates it',
      method: 'PATCH',
      path: '/Users/{ken}',
      body: { schemas: PATCH, Operations: [{ op: 'replace', value: { active: false } }] },
      status: 200,
      expect: has({ active: false }),
    },
    {
      why: 'finds it, deactivated',
      method: 'GET',
      path: `/Users${query('userName eq "ken@okta.example"')}`,
      status: 200,
      expect: oneOf('ken'),
    },
    {
      why: 'activates it by PUT',
      method: 'PUT',
      path: '/Users/{ken}',
      body: { schemas: [USER], id: '{ken}', userName: 'ken@okta.example', active: true },
      status: 200,
      expect: has({ active: true }),
    },
    {
      why: 'pushes a group',
      method: 'POST',
      path: '/Groups',
      body: {
        schemas: [GROUP],
        displayName: 'Engineers',
        members: [{ value: '{ken}', display: 'ken@okta.example' }],
      },
      status: 201,
      keep: 'engineers',
      expect: (body, ids) => expect(body.members[0].value).to.equal(ids.ken),
    },
    {
      why: 'renames it, with its id in the value',
      method: 'PATCH',
      path: '/Groups/{engineers}',
      body: {
        schemas: PATCH,
        Operations: [{ op: 'replace', value: { id: '{engineers}', displayName: 'Leads' } }],
      },
      status: 204,
    },
    {
      why: 'removes and adds members in one request',
      method: 'PATCH',
      path: '/Groups/{engineers}',
      body: {
        schemas: PATCH,
        Operations: [
          { op: 'remove', path: 'members[value eq "{ken}"]' },
          { op: 'add', path: 'members', value: [{ value: '{ken}', display: 'ken@okta.example' }] },
        ],
      },
      status: 204,
    },
    {
      why: 'pushes an empty group now',
      method: 'PATCH',
      path: '/Groups/{engineers}',
      body: { schemas: PATCH, Operations: [{ op: 'replace', path: 'members', value: [] }] },
      status: 204,
    },
    {
      why: 'replaces the group whole',
      method: 'PUT',
      path: '/Groups/{engineers}',
      body: {
        schemas: [GROUP],
        id: '{engineers}',
        displayName: 'Leads',
        members: [{ value: '{ken}', display: null }],
      },
      status: 200,
    },
    {
      why: 'reads members',
      method: 'GET',
      path: '/Groups/{engineers}',
      status: 200,
      expect: (body, ids) => expect(body.members.map(({ value }: Json) => value)).to.deep.equal([ids.ken]),
    },
    { why: 'deletes a pushed group', method: 'DELETE', path: '/Groups/{engineers}', status: 204 },
    {
      why: 'deactivates it for good',
      method: 'PATCH',
      path: '/Users/{ken}',
      body: { schemas: PATCH, Operations: [{ op: 'replace', value: { active: false } }] },
      status: 200,
    },
  ],
};
