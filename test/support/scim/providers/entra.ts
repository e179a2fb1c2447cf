import { expect } from 'chai';
import { ENTERPRISE, GROUP, has, nobody, oneOf, PATCH, type ProviderRun, query, USER } from './run.ts';

/**
 * learn.microsoft.com, "Develop and plan provisioning for a SCIM endpoint": a query by the matching attribute before all
 * else, `Add` and `Replace` with capitals, booleans as texts, values in lists, extensions; groups without members first.
 */
export const ENTRA: ProviderRun = {
  provider: 'Microsoft Entra ID',
  headers: { 'content-type': 'application/scim+json; charset=utf-8', accept: 'application/scim+json' },
  steps: [
    {
      why: 'tests the connection with a user that cannot be',
      method: 'GET',
      path: `/Users${query('userName eq "8c5e0a6e-3f9d-4a4e-b1c7-6f2d9d0b7a11"')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'asks whether the user is there',
      method: 'GET',
      path: `/Users${query('userName eq "Grace.Hopper@contoso.example"')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'makes the user',
      method: 'POST',
      path: '/Users',
      body: {
        schemas: [USER, ENTERPRISE],
        externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
        userName: 'Grace.Hopper@contoso.example',
        active: true,
        displayName: 'Grace Hopper',
        emails: [{ primary: true, type: 'work', value: 'grace.hopper@contoso.example' }],
        meta: { resourceType: 'User' },
        name: { formatted: 'Grace Hopper', familyName: 'Hopper', givenName: 'Grace' },
        roles: [],
        [ENTERPRISE]: { department: 'Navy', employeeNumber: '7' },
      },
      status: 201,
      keep: 'grace',
      expect: has({ active: true, externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef' }),
    },
    { why: 'reads it', method: 'GET', path: '/Users/{grace}', status: 200 },
    {
      why: 'finds it by the matching attribute',
      method: 'GET',
      path: `/Users${query('emails[type eq "work"].value eq "grace.hopper@contoso.example"')}`,
      status: 200,
      expect: oneOf('grace'),
    },
    {
      why: 'changes attributes, those of extensions as well',
      method: 'PATCH',
      path: '/Users/{grace}',
      body: {
        schemas: PATCH,
        Operations: [
          { op: 'Replace', path: 'emails[type eq "work"].value', value: 'rear.admiral@contoso.example' },
          { op: 'Replace', path: 'name.familyName', value: 'Murray' },
          { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Research' },
          { op: 'Add', path: `${ENTERPRISE}:manager`, value: [{ $ref: null, value: '12' }] },
          { op: 'Replace', path: 'addresses[type eq "work"].formatted', value: '18/2111' },
        ],
      },
      status: 200,
      expect(body) {
        expect(body.emails).to.deep.equal([
          { value: 'rear.admiral@contoso.example', type: 'work', primary: true },
        ]);
        expect(body.name.familyName).to.equal('Murray');
      },
    },
    {
      why: 'changes attributes without a path, with dotted keys',
      method: 'PATCH',
      path: '/Users/{grace}',
      body: {
        schemas: PATCH,
        Operations: [
          {
            op: 'replace',
            value: { displayName: 'Grace M.', 'name.givenName': 'G.', [`${ENTERPRISE}:employeeNumber`]: '8' },
          },
        ],
      },
      status: 200,
      expect: has({ displayName: 'Grace M.' }),
    },
    {
      why: 'deactivates it with a text',
      method: 'PATCH',
      path: '/Users/{grace}',
      body: { schemas: PATCH, Operations: [{ op: 'Replace', path: 'active', value: 'False' }] },
      status: 200,
      expect: has({ active: false }),
    },
    {
      why: 'activates it with a list',
      method: 'PATCH',
      path: '/Users/{grace}',
      body: { schemas: PATCH, Operations: [{ op: 'Replace', path: 'active', value: [{ value: 'True' }] }] },
      status: 200,
      expect: has({ active: true }),
    },
    {
      why: 'asks whether the group is there, without its members',
      method: 'GET',
      path: `/Groups${query('displayName eq "Engineers"', '&excludedAttributes=members')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'makes the group, with a schema of its own',
      method: 'POST',
      path: '/Groups',
      body: {
        schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
        externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
        displayName: 'Engineers',
        meta: { resourceType: 'Group' },
      },
      status: 201,
      keep: 'engineers',
      expect: has({ externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159', members: [] }),
    },
    {
      why: 'adds a member',
      method: 'PATCH',
      path: '/Groups/{engineers}',
      body: {
        schemas: PATCH,
        Operations: [{ op: 'Add', path: 'members', value: [{ $ref: null, value: '{grace}' }] }],
      },
      status: 204,
    },
    {
      why: 'asks whether the user is in the group',
      method: 'GET',
      path: `/Groups${query('id eq "{engineers}" and members eq "{grace}"', '&attributes=id')}`,
      status: 200,
      expect: oneOf('engineers'),
    },
    {
      why: 'removes a member by a list',
      method: 'PATCH',
      path: '/Groups/{engineers}',
      body: {
        schemas: PATCH,
        Operations: [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{grace}' }] }],
      },
      status: 204,
    },
    {
      why: 'finds that it is not in it',
      method: 'GET',
      path: `/Groups${query('id eq "{engineers}" and members eq "{grace}"')}`,
      status: 200,
      expect: nobody,
    },
    {
      why: 'renames the group',
      method: 'PATCH',
      path: '/Groups/{engineers}',
      body: { schemas: PATCH, Operations: [{ op: 'Replace', path: 'displayName', value: 'Readers' }] },
      status: 204,
    },
    {
      why: 'adds the member again',
      method: 'PATCH',
      path: '/Groups/{engineers}',
      body: {
        schemas: PATCH,
        Operations: [
          { name: 'addMember', op: 'add', path: 'members', value: [{ displayName: 'G', value: '{grace}' }] },
        ],
      },
      status: 204,
    },
    {
      why: 'reads the group',
      method: 'GET',
      path: '/Groups/{engineers}?excludedAttributes=members',
      status: 200,
    },
  ],
};
