import { expect } from 'chai';
import { GROUP, has, membersAre, nobody, oneOf, type ProviderRun, query, USER } from './run.ts';

/** Those of Okta's own tests of endpoints, "Okta SCIM 2.0 SPEC Test". */
export const OKTA_HEADERS = {
  'content-type': 'application/scim+json; charset=utf-8',
  accept: 'application/scim+json',
  'accept-charset': 'utf-8',
  'user-agent': 'Okta SCIM Client 1.0.0',
};

/** Whole, with a part of the name that is not kept here. */
const ken = (changes: object) => ({
  schemas: [USER],
  id: '{ken}',
  userName: 'ken@okta.example',
  name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
  emails: [{ primary: true, value: 'ken@okta.example', type: 'work', display: 'ken@okta.example' }],
  active: true,
  groups: [],
  meta: { resourceType: 'User' },
  ...changes,
});

/**
 * developer.okta.com, "Okta and SCIM Version 2.0", of integrations that were made with the App Integration Wizard: every
 * change of a user or a group is a PUT, deactivation too. Users are never deleted.
 */
export const OKTA: ProviderRun = {
  provider: 'Okta, an integration of its own',
  headers: OKTA_HEADERS,
  steps: [
    {
      why: 'tests the connector',
      method: 'GET',
      path: '/Users?startIndex=1&count=2',
      status: 200,
      knownFrom: "Okta's page on SCIM 1.1, and those who serve 2.0",
    },
    {
      why: 'asks whether the user is there',
      method: 'GET',
      path: `/Users${query('userName eq "ken@okta.example"', '&startIndex=1&count=100')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'makes the user, with a password that means nothing',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER],
        userName: 'ken@okta.example',
        name: { givenName: 'Ken', familyName: 'Thompson' },
        emails: [{ primary: true, value: 'ken@okta.example', type: 'work' }],
        ...{ displayName: 'Ken Thompson', locale: 'en-US', externalId: '00ujl29u0le5T6Aj10h7' },
        ...{ groups: [], password: '1mz050nq', active: true },
      },
      status: 201,
      keep: 'ken',
      expect: has({ externalId: '00ujl29u0le5T6Aj10h7', groups: [], active: true }),
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
      why: 'finds it whatever the case',
      method: 'GET',
      path: `/Users${query('userName eq "KEN@OKTA.EXAMPLE"')}`,
      status: 200,
      expect: oneOf('ken'),
    },
    { why: 'reads it', method: 'GET', path: '/Users/{ken}', status: 200, expect: has({ groups: [] }) },
    {
      why: 'replaces it by what it has read and changed',
      method: 'PUT',
      path: '/Users/{ken}',
      body: ken({}),
      status: 200,
      expect: has({
        name: { givenName: 'Another', familyName: 'User' },
        externalId: '00ujl29u0le5T6Aj10h7',
      }),
    },
    {
      why: 'deactivates it',
      method: 'PUT',
      path: '/Users/{ken}',
      body: ken({ active: false }),
      status: 200,
      expect: has({ active: false }),
    },
    {
      why: 'activates it',
      method: 'PUT',
      path: '/Users/{ken}',
      body: ken({}),
      status: 200,
      expect: has({ active: true }),
    },
    {
      why: 'imports users',
      method: 'GET',
      path: '/Users?startIndex=1&count=100',
      status: 200,
      expect: (body) => expect([body.startIndex, body.itemsPerPage, body.totalResults]).to.satisfy(isNumbers),
    },
    { why: 'imports groups', method: 'GET', path: '/Groups?startIndex=1&count=100', status: 200 },
    {
      why: 'asks whether the group is there',
      method: 'GET',
      path: `/Groups${query('displayName eq "Engineers"', '&startIndex=1&count=100')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'pushes the group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [GROUP], displayName: 'Engineers', members: [] },
      status: 201,
      keep: 'engineers',
      expect: has({ displayName: 'Engineers', members: [] }),
    },
    {
      why: 'pushes its members and another name, without its id',
      method: 'PUT',
      path: '/Groups/{engineers}',
      body: {
        schemas: [GROUP],
        displayName: 'Leads',
        members: [{ value: '{ken}', display: 'ken@okta.example' }],
      },
      status: 200,
      expect: membersAre('ken'),
    },
    {
      why: 'reads the group',
      method: 'GET',
      path: '/Groups/{engineers}',
      status: 200,
      expect: has({ displayName: 'Leads' }),
    },
    { why: 'deletes a pushed group', method: 'DELETE', path: '/Groups/{engineers}', status: 204 },
    {
      why: 'deactivates the user for good',
      method: 'PUT',
      path: '/Users/{ken}',
      body: ken({ active: false }),
      status: 200,
      expect: has({ active: false }),
    },
  ],
};

const isNumbers = (values: unknown[]) => values.every((value) => typeof value === 'number');
