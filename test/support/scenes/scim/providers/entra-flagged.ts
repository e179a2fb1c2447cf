import { expect } from 'chai';
import { ENTERPRISE, GROUP, has, membersAre, type ProviderRun, patch, USER } from './run.ts';

/** learn.microsoft.com, "Known issues and resolutions with SCIM 2.0 protocol compliance": the requests "with feature flag". */
export const ENTRA_FLAGGED: ProviderRun = {
  provider: 'Microsoft Entra ID with aadOptscim062020',
  headers: { 'content-type': 'application/scim+json' },
  steps: [
    {
      why: 'makes the user, at an address that has the flag',
      method: 'POST',
      path: '/Users?aadOptscim062020',
      body: {
        schemas: [USER, ENTERPRISE],
        ...{ userName: 'mary@contoso.example', externalId: 'mary', active: true },
        emails: [{ primary: true, type: 'work', value: 'mary@contoso.example' }],
      },
      status: 201,
      keep: 'mary',
      knownFrom: 'nothing: whether the flag reaches the endpoint is not told',
    },
    {
      why: 'adds a text',
      ...patch({ op: 'add', path: 'nickName', value: 'Babs' }),
      path: '/Users/{mary}',
      status: 200,
    },
    {
      why: 'replaces several attributes',
      ...patch(
        { op: 'replace', path: 'emails[type eq "work"].value', value: 'mary.jackson@contoso.example' },
        {
          op: 'replace',
          value: {
            displayName: 'Mary Jackson',
            ...{ 'name.givenName': 'Mary', 'name.familyName': 'Jackson' },
            [`${ENTERPRISE}:employeeNumber`]: 'Aklq',
          },
        },
      ),
      path: '/Users/{mary}',
      status: 200,
      expect: has({
        displayName: 'Mary Jackson',
        name: { givenName: 'Mary', familyName: 'Jackson' },
        emails: [{ value: 'mary.jackson@contoso.example', type: 'work', primary: true }],
      }),
    },
    {
      why: 'adds several attributes',
      ...patch({
        op: 'add',
        value: { displayName: 'Mary W. Jackson', title: 'Engineer', 'name.formatted': 'M.' },
      }),
      path: '/Users/{mary}',
      status: 200,
      knownFrom: 'github.com/pond/scimitar/issues/123',
      expect: has({ displayName: 'Mary W. Jackson' }),
    },
    {
      why: 'changes parts of addresses, of some that are not there',
      ...patch(
        { op: 'replace', path: 'emails[type eq "work"].value', value: 'oren.collins@contoso.example' },
        { op: 'add', path: 'emails[type eq "home"].value', value: 'angelita@contoso.example' },
        { op: 'replace', path: 'emails[type eq "work"].display', value: '0TXBC2MOGUI0' },
        { op: 'add', path: 'emails[type eq "work"].primary', value: false },
        { op: 'replace', path: 'emails[type eq "home"].primary', value: true },
      ),
      path: '/Users/{mary}',
      status: 200,
      knownFrom: "Microsoft's SCIM Validator: github.com/sourcegraph/sourcegraph-public-snapshot/pull/49119",
      expect: (body) =>
        expect(body.emails).to.deep.equal([
          { value: 'oren.collins@contoso.example', type: 'work', primary: false, display: '0TXBC2MOGUI0' },
          { value: 'angelita@contoso.example', type: 'home', primary: true },
        ]),
    },
    {
      why: 'sets the manager by a text',
      ...patch({ op: 'add', path: `${ENTERPRISE}:manager`, value: '2c2f6fb8-254f-492e-b7fe-c09c5a61c8a2' }),
      path: '/Users/{mary}',
      status: 200,
      knownFrom: 'github.com/Captain-P-Goldfish/SCIM-SDK/issues/686',
    },
    {
      why: 'makes a group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [GROUP], externalId: 'computers', displayName: 'Computers' },
      status: 201,
      keep: 'computers',
    },
    {
      why: 'adds a member',
      ...patch({ op: 'add', path: 'members', value: [{ value: '{mary}' }] }),
      path: '/Groups/{computers}',
      status: 204,
      knownFrom: 'the form without the flag',
    },
    {
      why: 'removes a member',
      ...patch({ op: 'remove', path: 'members[value eq "{mary}"]' }),
      path: '/Groups/{computers}',
      status: 204,
    },
    {
      why: 'has removed it',
      method: 'GET',
      path: '/Groups/{computers}',
      status: 200,
      expect: membersAre(),
    },
    {
      why: 'disables the user',
      ...patch({ op: 'replace', path: 'active', value: false }),
      path: '/Users/{mary}',
      status: 200,
      expect: has({ active: false }),
    },
  ],
};
