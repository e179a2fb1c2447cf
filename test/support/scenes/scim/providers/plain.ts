import { expect } from 'chai';
import { GROUP, has, membersAre, oneOf, type ProviderRun, patch, query, USER } from './run.ts';

/** Clients that keep to RFC 7644: what is there first, then PUT, or PATCH in the forms of 3.5.2. */
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
        ...{ userName: 'bjensen', externalId: 'bj', emails: [{ value: 'bjensen@example.com' }] },
      },
      status: 201,
      keep: 'babs',
    },
    {
      why: 'finds it by an expression with other capitals',
      method: 'GET',
      path: `/Users${query('username Eq "bjensen"')}`,
      status: 200,
      knownFrom: 'docs.pingidentity.com, "SCIM filter expressions"',
      expect: oneOf('babs'),
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
      ...patch({ op: 'add', value: { members: [{ display: 'Babs', value: '{babs}' }] } }),
      path: '/Groups/{club}',
      status: 204,
    },
    {
      why: 'replaces the group, with relative references',
      method: 'PUT',
      path: '/Groups/{club}',
      body: {
        ...{ schemas: [GROUP], id: '{club}', externalId: 'c-1', displayName: 'Chess club' },
        members: [{ value: '{babs}', $ref: 'Users/{babs}' }],
        meta: { location: 'Groups/{club}' },
      },
      status: 200,
      knownFrom: 'an extension of Keycloak, github.com/mitodl/keycloak-scim',
      expect: membersAre('babs'),
    },
    {
      why: 'searches by POST',
      method: 'POST',
      path: '/Users/.search',
      body: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        attributes: ['userName', 'groups'],
        ...{ filter: 'userName eq "BJENSEN"', startIndex: 1, count: 10 },
      },
      status: 200,
      expect(body, ids) {
        expect(body.Resources[0]).to.include({ id: ids.babs, userName: 'bjensen' });
        expect(body.Resources[0].groups[0].value).to.equal(ids.club);
      },
    },
    {
      why: 'adds to the user without a path',
      ...patch({
        op: 'add',
        value: { emails: [{ value: 'babs@jensen.org', type: 'home' }], nickname: 'Babs' },
      }),
      path: '/Users/{babs}',
      status: 200,
      expect: (body) => expect(body.emails).to.have.length(2),
    },
    {
      why: 'removes all members and adds one',
      ...patch(
        { op: 'remove', path: 'members' },
        { op: 'add', path: 'members', value: [{ display: 'Babs', value: '{babs}' }] },
      ),
      path: '/Groups/{club}',
      status: 204,
    },
    {
      why: 'asks for the group after a change',
      ...patch({ op: 'replace', path: 'members', value: [{ value: '{babs}' }] }),
      path: '/Groups/{club}?attributes=displayName,members',
      status: 200,
      expect: membersAre('babs'),
    },
    { why: 'deletes the group', method: 'DELETE', path: '/Groups/{club}', status: 204 },
  ],
};
