import { expect } from 'chai';
import { ENTRA_GROUPS } from './entra-groups.ts';
import { ENTERPRISE, has, nobody, oneOf, type ProviderRun, patch, query, type Step, USER } from './run.ts';

/** "Create User" to "Delete User" of the guide: a user name that is no address, and attributes by their paths. */
const AS_IN_THE_GUIDE: readonly Step[] = [
  {
    why: 'asks for a user that is not there',
    method: 'GET',
    path: `/Users${query('userName eq "non-existent user"')}`,
    status: 200,
    expect: nobody,
  },
  {
    why: 'makes a user',
    method: 'POST',
    path: '/Users',
    body: {
      schemas: [USER, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_00aa00aa-bb11-cc22-dd33-44ee44ee44ee',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'Test_User_11bb11bb@contoso.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
    },
    status: 201,
    keep: 'test',
    expect: has({ active: true, externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef' }),
  },
  { why: 'reads it', method: 'GET', path: '/Users/{test}', status: 200 },
  {
    why: 'changes properties of several values',
    ...patch(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@contoso.example' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    ),
    path: '/Users/{test}',
    status: 200,
    expect(body) {
      const [email] = body.emails;
      expect(email).to.deep.equal({ value: 'updatedEmail@contoso.example', type: 'work', primary: true });
      expect(body.name.familyName).to.equal('updatedFamilyName');
    },
  },
  {
    why: 'changes a property of one value',
    ...patch({ op: 'Replace', path: 'userName', value: '5b50642d-79fc-4410-9e90@contoso.example' }),
    path: '/Users/{test}',
    status: 200,
    expect: has({ userName: '5b50642d-79fc-4410-9e90@contoso.example' }),
  },
  {
    why: 'disables it',
    ...patch({ op: 'Replace', path: 'active', value: false }),
    path: '/Users/{test}',
    status: 200,
    expect: has({ active: false }),
  },
  {
    why: 'finds it, disabled',
    method: 'GET',
    path: `/Users${query('userName eq "5b50642d-79fc-4410-9e90@contoso.example"')}`,
    status: 200,
    expect: oneOf('test'),
  },
  { why: 'deletes it', method: 'DELETE', path: '/Users/{test}', status: 204 },
  {
    why: 'does not find it',
    method: 'GET',
    path: '/Users/{test}',
    status: 404,
    expect: has({ status: '404' }),
  },
];

/** The examples under "Handling provisioning and deprovisioning of users", and requests without the flag of the second page. */
const OF_GRACE: readonly Step[] = [
  {
    why: 'makes a user, with nulls and a schema that is misspelt',
    method: 'POST',
    path: '/Users',
    body: {
      schemas: [USER, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0User'],
      ...{ externalId: 'grace', userName: 'Grace.Hopper@contoso.example', active: true },
      ...{ addresses: null, displayName: 'Grace Hopper' },
      emails: [{ type: 'work', value: 'grace.hopper@contoso.example', primary: true }],
      meta: { resourceType: 'User' },
      name: { familyName: 'Hopper', givenName: 'Grace' },
      ...{ phoneNumbers: null, preferredLanguage: null, title: null, department: null, manager: null },
    },
    status: 201,
    keep: 'grace',
  },
  {
    why: 'finds it by its external id',
    method: 'GET',
    path: `/Users${query('externalId eq "grace"')}`,
    status: 200,
    expect: oneOf('grace'),
  },
  {
    why: 'finds it by the matching attribute',
    method: 'GET',
    path: `/Users${query('emails[type eq "work"].value eq "grace.hopper@contoso.example"')}`,
    status: 200,
    expect: oneOf('grace'),
  },
  {
    why: 'asks whether it has a manager',
    method: 'GET',
    path: `/Users${query('id eq "{grace}" and manager eq "{test}"', '&attributes=id')}`,
    status: 200,
    expect: nobody,
  },
  {
    why: 'sets the manager',
    ...patch({
      op: 'Add',
      path: 'manager',
      value: [{ $ref: 'https://elsewhere.example/scim/Users/{test}', value: '{test}' }],
    }),
    path: '/Users/{grace}',
    status: 200,
  },
  {
    why: 'replaces several attributes',
    ...patch(
      { op: 'Replace', path: 'displayName', value: 'Grace M. Hopper' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'rear.admiral@contoso.example' },
      { op: 'Replace', path: 'name.givenName', value: 'G.' },
      { op: 'Replace', path: 'name.familyName', value: 'Murray' },
      { op: 'Replace', path: 'externalId', value: 'Eqpj' },
      { op: 'Replace', path: `${ENTERPRISE}:employeeNumber`, value: 'Eqpj' },
    ),
    path: '/Users/{grace}',
    status: 200,
    expect: has({
      ...{ displayName: 'Grace M. Hopper', externalId: 'Eqpj' },
      name: { familyName: 'Murray', givenName: 'G.' },
    }),
  },
  {
    why: 'adds a text',
    ...patch({ op: 'Add', path: 'nickName', value: 'Babs' }),
    path: '/Users/{grace}',
    status: 200,
  },
  {
    why: 'adds a text as a list',
    ...patch({ op: 'Add', path: 'displayName', value: [{ $ref: null, value: 'Grace Hopper' }] }),
    path: '/Users/{grace}',
    status: 200,
    knownFrom: 'github.com/Azure/AzureAD-BYOA-Provisioning-Samples/issues/22, of a library by Microsoft',
    expect: has({ displayName: 'Grace Hopper' }),
  },
  {
    why: 'adds roles',
    ...patch({ op: 'Add', path: 'roles', value: [{ value: '{"id":"06b07648","value":"25"}' }] }),
    path: '/Users/{grace}',
    status: 200,
  },
  {
    why: 'adds to attributes of several values that are mapped by their types',
    ...patch(
      { op: 'Add', path: 'addresses[type eq "other"].Formatted', value: '18/2111' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '425-555-0100' },
      { op: 'Add', path: 'emails[type eq "other"].Value', value: 'g.hopper@contoso.example' },
    ),
    path: '/Users/{grace}',
    status: 200,
    expect: (body) => expect(body.emails).to.have.length(2),
  },
  {
    why: 'disables it with a text',
    ...patch({ op: 'Replace', path: 'active', value: 'False' }),
    path: '/Users/{grace}',
    status: 200,
    expect: has({ active: false }),
  },
  {
    why: 'restores it with a text',
    ...patch({ op: 'Replace', path: 'active', value: 'True' }),
    path: '/Users/{grace}',
    status: 200,
    knownFrom: 'the form of "False"',
    expect: has({ active: true }),
  },
];

/**
 * learn.microsoft.com: "Develop and plan provisioning for a SCIM endpoint in Microsoft Entra ID", "Known issues and resolutions
 * with SCIM 2.0 protocol compliance" (requests with and without the flag `aadOptscim062020`), and for roles "Customize user
 * provisioning attribute-mappings". The test of the connection asks for somebody whom nobody can be.
 */
export const ENTRA: ProviderRun = {
  provider: 'Microsoft Entra ID',
  headers: { 'content-type': 'application/scim+json' },
  steps: [
    {
      why: 'tests the connection',
      method: 'GET',
      path: `/Users${query('userName eq "8c5e0a6e-3f9d-4a4e-b1c7-6f2d9d0b7a11"')}`,
      status: 200,
      expect: nobody,
    },
    { why: 'discovers schemas', method: 'GET', path: '/Schemas', status: 200 },
    ...AS_IN_THE_GUIDE,
    ...OF_GRACE,
    ...ENTRA_GROUPS,
  ],
};
