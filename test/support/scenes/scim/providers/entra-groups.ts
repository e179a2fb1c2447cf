import { GROUP, has, nobody, oneOf, patch, query, type Step } from './run.ts';

const byName = (name: string) =>
  `/Groups?excludedAttributes=members&filter=${encodeURIComponent(`displayName eq "${name}"`)}`;
const isMember = `/Groups${query('id eq "{engineers}" and members eq "{grace}"', '&attributes=id')}`;
const ASKS_FOR_MEMBERS =
  'the endpoint of AWS, which documents it; the guide tells of such a request without showing it';

/** "Group Operations" of the guide, and what the second page has for groups; of `{grace}`, who is there. */
export const ENTRA_GROUPS: readonly Step[] = [
  {
    why: 'asks whether the group is there, without its members',
    method: 'GET',
    path: byName('Engineers'),
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
    why: 'finds it by its name',
    method: 'GET',
    path: byName('Engineers'),
    status: 200,
    expect: oneOf('engineers'),
  },
  {
    why: 'adds a member',
    ...patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{grace}' }] }),
    path: '/Groups/{engineers}',
    status: 204,
  },
  {
    why: 'asks whether the user is in the group',
    method: 'GET',
    path: isMember,
    status: 200,
    knownFrom: ASKS_FOR_MEMBERS,
    expect: oneOf('engineers'),
  },
  {
    why: 'removes a member by a list',
    ...patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{grace}' }] }),
    path: '/Groups/{engineers}',
    status: 204,
  },
  {
    why: 'finds that it is not in it',
    method: 'GET',
    path: isMember,
    status: 200,
    knownFrom: ASKS_FOR_MEMBERS,
    expect: nobody,
  },
  {
    why: 'renames the group',
    ...patch({ op: 'Replace', path: 'displayName', value: 'Readers' }),
    path: '/Groups/{engineers}',
    status: 204,
  },
  {
    why: 'adds the member again',
    ...patch({
      ...{ name: 'addMember', op: 'add', path: 'members' },
      value: [{ displayName: 'new User', value: '{grace}' }],
    }),
    path: '/Groups/{engineers}',
    status: 204,
    knownFrom: "the collection of requests in Microsoft's SCIM reference code",
  },
  {
    why: 'reads the group without its members',
    method: 'GET',
    path: '/Groups/{engineers}?excludedAttributes=members',
    status: 200,
    expect: has({ displayName: 'Readers' }),
  },
  {
    why: 'makes another group',
    method: 'POST',
    path: '/Groups',
    body: { schemas: [GROUP], externalId: 'other', displayName: 'Others', members: [] },
    status: 201,
    keep: 'others',
    knownFrom: 'questions to Microsoft that show the list of members',
  },
  {
    why: 'removes all members of it',
    ...patch({ op: 'remove', path: 'members' }),
    path: '/Groups/{others}',
    status: 204,
    knownFrom: "the tests of Microsoft's SCIM reference code",
  },
  { why: 'deletes it', method: 'DELETE', path: '/Groups/{others}', status: 204 },
];
