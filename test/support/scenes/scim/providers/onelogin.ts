import { expect } from 'chai';
import { GROUP, has, membersAre, nobody, type ProviderRun, patch, USER } from './run.ts';

/** Seen in the log of github.com/goauthentik/authentik/issues/11249. */
const LOGGED = 'a log of what OneLogin sent';
const byName = (name: string) => `/Users?filter=userName+eq+%22${encodeURIComponent(name)}%22&`;

/**
 * developers.onelogin.com, "Implement RESTful SCIM APIs for Your App" lists the requests; "Define Your SCIM User Schema" has the
 * template that users are made of: schemas of SCIM 1, one address in no list. PUT of users is in OneLogin's sample
 * (github.com/onelogin/onelogin-scim-node). The bodies of its PATCH could not be found.
 */
export const ONELOGIN: ProviderRun = {
  provider: 'OneLogin',
  headers: { 'content-type': 'application/json' },
  steps: [
    {
      why: 'connects: asks for somebody who is not there',
      method: 'GET',
      path: byName('non-existent@onelogin.example'),
      status: 200,
      knownFrom: LOGGED,
      expect: nobody,
    },
    {
      why: 'makes the user',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: ['urn:scim:schemas:core:1.0', 'urn:scim:schemas:extension:enterprise:1.0'],
        userName: 'barbara@onelogin.example',
        name: { familyName: 'Liskov', givenName: 'Barbara', formatted: 'Barbara Liskov' },
        emails: { value: 'barbara@onelogin.example', type: 'work', primary: true },
        title: '',
        'urn:scim:schemas:extension:enterprise:1.0': { department: null, manager: { managerId: '' } },
      },
      status: 201,
      keep: 'barbara',
      expect(body) {
        expect(body.active).to.equal(true);
        expect(body.emails).to.deep.equal([
          { value: 'barbara@onelogin.example', type: 'work', primary: true },
        ]);
      },
    },
    { why: 'reads it', method: 'GET', path: '/Users/{barbara}', status: 200 },
    { why: 'asks for groups', method: 'GET', path: '/Groups', status: 200 },
    {
      why: 'makes a group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [GROUP], displayName: 'Operators' },
      status: 201,
      keep: 'operators',
      knownFrom: 'RFC 7644',
    },
    {
      why: 'adds a member',
      ...patch({ op: 'add', path: 'members', value: [{ value: '{barbara}' }] }),
      path: '/Groups/{operators}',
      status: 204,
      knownFrom: 'RFC 7644',
    },
    {
      why: 'suspends the user, with a text from its template',
      method: 'PUT',
      path: '/Users/{barbara}?',
      body: {
        schemas: [USER],
        id: null,
        userName: 'barbara@onelogin.example',
        active: 'false',
        emails: [{ value: 'barbara@onelogin.example', type: 'work', primary: true }],
      },
      status: 200,
      knownFrom: `${LOGGED}, and templates with "{$user.active}"`,
      expect: has({ active: false }),
    },
    {
      why: 'removes a member',
      ...patch({ op: 'remove', path: 'members[value eq "{barbara}"]' }),
      path: '/Groups/{operators}',
      status: 204,
      knownFrom: 'RFC 7644',
    },
    {
      why: 'has removed it',
      method: 'GET',
      path: '/Groups/{operators}',
      status: 200,
      expect: membersAre(),
    },
    { why: 'asks for users', method: 'GET', path: '/Users', status: 200 },
    { why: 'deletes the user', method: 'DELETE', path: '/Users/{barbara}', status: 204 },
    {
      why: 'finds it gone',
      method: 'GET',
      path: '/Users/{barbara}',
      status: 404,
      expect: has({ status: '404' }),
    },
  ],
};
