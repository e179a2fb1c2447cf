import { expect } from 'chai';
import { ENTERPRISE, GROUP, has, nobody, PATCH, type ProviderRun, query, USER } from './run.ts';

/** developers.onelogin.com, "SCIM provisioning": users by PUT with plain JSON, groups by PATCH, removal by a filter. */
export const ONELOGIN: ProviderRun = {
  provider: 'OneLogin',
  headers: { 'content-type': 'application/json' },
  steps: [
    {
      why: 'asks whether the user is there',
      method: 'GET',
      path: `/Users${query('userName eq "barbara@onelogin.example"')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'makes the user',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER, ENTERPRISE],
        userName: 'barbara@onelogin.example',
        externalId: '84532',
        displayName: 'Barbara Liskov',
        name: { givenName: 'Barbara', familyName: 'Liskov', formatted: 'Barbara Liskov' },
        emails: [{ value: 'barbara@onelogin.example', type: 'work', primary: true }],
        phoneNumbers: [{ value: '', type: 'work' }],
        [ENTERPRISE]: { department: null },
      },
      status: 201,
      keep: 'barbara',
      expect: has({ active: true }),
    },
    { why: 'asks for groups', method: 'GET', path: '/Groups', status: 200 },
    {
      why: 'makes a group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [GROUP], displayName: 'Operators' },
      status: 201,
      keep: 'operators',
    },
    {
      why: 'adds a member',
      method: 'PATCH',
      path: '/Groups/{operators}',
      body: { schemas: PATCH, Operations: [{ op: 'add', path: 'members', value: [{ value: '{barbara}' }] }] },
      status: 204,
    },
    {
      why: 'changes the user whole',
      method: 'PUT',
      path: '/Users/{barbara}',
      body: {
        schemas: [USER],
        id: '{barbara}',
        userName: 'barbara@onelogin.example',
        externalId: '84532',
        displayName: 'B. Liskov',
        active: true,
        emails: [{ value: 'barbara@onelogin.example', type: 'work', primary: true }],
      },
      status: 200,
      expect: has({ displayName: 'B. Liskov' }),
    },
    {
      why: 'removes a member',
      method: 'PATCH',
      path: '/Groups/{operators}',
      body: { schemas: PATCH, Operations: [{ op: 'remove', path: 'members[value eq "{barbara}"]' }] },
      status: 204,
    },
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

/** jumpcloud.com, "Custom SCIM Identity Management": a test user and a test group, both deleted; users by PUT. */
export const JUMPCLOUD: ProviderRun = {
  provider: 'JumpCloud',
  headers: { 'content-type': 'application/scim+json' },
  steps: [
    {
      why: 'makes a test user',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER],
        userName: 'test-user@jumpcloud.example',
        active: true,
        name: { familyName: 'User', givenName: 'Test' },
        displayName: '',
        emails: [{ value: 'test-user@jumpcloud.example', primary: true, type: 'work' }],
      },
      status: 201,
      keep: 'test',
    },
    {
      why: 'deactivates it by PUT',
      method: 'PUT',
      path: '/Users/{test}',
      body: { schemas: [USER], userName: 'test-user@jumpcloud.example', active: false },
      status: 200,
      expect: has({ active: false }),
    },
    {
      why: 'makes a test group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [GROUP], displayName: 'Test group', members: [] },
      status: 201,
      keep: 'group',
    },
    {
      why: 'adds members',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: { schemas: PATCH, Operations: [{ op: 'add', path: 'members', value: [{ value: '{test}' }] }] },
      status: 204,
    },
    {
      why: 'removes them by their values',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: { schemas: PATCH, Operations: [{ op: 'remove', path: 'members', value: [{ value: '{test}' }] }] },
      status: 204,
    },
    { why: 'deletes the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
    { why: 'deletes the user', method: 'DELETE', path: '/Users/{test}', status: 204 },
    {
      why: 'makes it again at the next test',
      method: 'POST',
      path: '/Users',
      body: { schemas: [USER], userName: 'test-user@jumpcloud.example', active: true },
      status: 201,
      expect: (body, ids) => expect(body.id).to.equal(ids.test),
    },
  ],
};

/** Clients that keep to RFC 7644, as the SCIM extensions of Keycloak are: what is there first, then PUT, or PATCH without a path. */
export const PLAIN: ProviderRun = {
  provider: 'A client that keeps to RFC 7644',
  headers: { 'content-type': 'application/scim+json', accept: 'application/scim+json' },
  steps: [
    {
      why: 'asks what there is',
      method: 'GET',
      path: '/ServiceProviderConfig',
      status: 200,
      expect: has({ patch: { supported: true } }),
    },
    { why: 'asks for types', method: 'GET', path: '/ResourceTypes', status: 200 },
    { why: 'asks for schemas', method: 'GET', path: '/Schemas', status: 200 },
    {
      why: 'makes a user whose name is no address',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER],
        userName: 'bjensen',
        externalId: 'bj',
        emails: [{ value: 'bjensen@example.com' }],
      },
      status: 201,
      keep: 'babs',
    },
    {
      why: 'makes a group with it',
      method: 'POST',
      path: '/Groups',
      body: {
        schemas: [GROUP],
        displayName: 'Chess club',
        members: [{ value: '{babs}', type: 'User', $ref: 'https://elsewhere.example/Users/{babs}' }],
      },
      status: 201,
      keep: 'club',
    },
    {
      why: 'adds members without a path, one of them there already',
      method: 'PATCH',
      path: '/Groups/{club}',
      body: {
        schemas: PATCH,
        Operations: [{ op: 'add', value: { members: [{ display: 'Babs', value: '{babs}' }] } }],
      },
      status: 204,
    },
    {
      why: 'searches by POST',
      method: 'POST',
      path: '/Users/.search',
      body: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        attributes: ['userName', 'groups'],
        filter: 'userName eq "BJENSEN"',
        startIndex: 1,
        count: 10,
      },
      status: 200,
      expect(body, ids) {
        expect(body.Resources[0]).to.include({ id: ids.babs, userName: 'bjensen' });
        expect(body.Resources[0].groups[0].value).to.equal(ids.club);
      },
    },
    {
      why: 'adds to the user without a path',
      method: 'PATCH',
      path: '/Users/{babs}',
      body: {
        schemas: PATCH,
        Operations: [
          {
            op: 'add',
            value: { emails: [{ value: 'babs@jensen.example', type: 'home' }], nickName: 'Babs' },
          },
        ],
      },
      status: 200,
      expect: (body) => expect(body.emails).to.have.length(2),
    },
    { why: 'deletes the group', method: 'DELETE', path: '/Groups/{club}', status: 204 },
  ],
};
