/** What a provider may learn of this service: RFC 7643, 5 to 7. */
import { notFound } from '../../controller/platform/operation/errors.ts';
import { SCIM_LIMITS, SCIM_URNS } from '../../schemas/scim/common.ts';
import { listOf, type Resource } from './resources.ts';

export const serviceProviderConfig = (baseUrl: string): Resource => ({
  schemas: [SCIM_URNS.serviceProvider],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: SCIM_LIMITS.count.maximum },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token that a super admin generates in the settings of this service',
      specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
});

interface AttributeOptions {
  type?: 'string' | 'boolean' | 'complex' | 'reference';
  description: string;
  required?: true;
  multiValued?: true;
  caseExact?: true;
  mutability?: 'readOnly' | 'immutable';
  uniqueness?: 'server';
  subAttributes?: object[];
  referenceTypes?: string[];
  canonicalValues?: string[];
}

function attribute(name: string, options: AttributeOptions): object {
  const { type = 'string', description, subAttributes, referenceTypes, canonicalValues } = options;
  return {
    name,
    type,
    multiValued: options.multiValued ?? false,
    description,
    required: options.required ?? false,
    ...(type === 'boolean' ? {} : { caseExact: options.caseExact ?? false }),
    mutability: options.mutability ?? 'readWrite',
    returned: 'default',
    uniqueness: options.uniqueness ?? 'none',
    ...(subAttributes ? { subAttributes } : {}),
    ...(referenceTypes ? { referenceTypes } : {}),
    ...(canonicalValues ? { canonicalValues } : {}),
  };
}

const readOnly = { mutability: 'readOnly' } as const;

const USER_ATTRIBUTES = [
  attribute('userName', {
    description: 'Who the user is to the provider, commonly an e-mail address',
    required: true,
    uniqueness: 'server',
  }),
  attribute('name', {
    type: 'complex',
    description: 'The parts of the name',
    subAttributes: [
      attribute('formatted', { description: 'The whole name' }),
      attribute('givenName', { description: 'The given name' }),
      attribute('familyName', { description: 'The family name' }),
    ],
  }),
  attribute('displayName', { description: 'The name that people see' }),
  attribute('emails', {
    type: 'complex',
    multiValued: true,
    description: 'E-mail addresses; the primary one is that of the account where userName is none',
    subAttributes: [
      attribute('value', { description: 'The address' }),
      attribute('type', { description: 'For example work' }),
      attribute('primary', { type: 'boolean', description: 'Whether it is the one to use' }),
      attribute('display', { description: 'A name for it' }),
    ],
  }),
  attribute('active', { type: 'boolean', description: 'Whether the user may sign in' }),
  attribute('groups', {
    ...readOnly,
    type: 'complex',
    multiValued: true,
    description: 'The groups that the user is in',
    subAttributes: [
      attribute('value', { ...readOnly, description: 'The id of the group', caseExact: true }),
      attribute('display', { ...readOnly, description: 'The name of the group' }),
      attribute('type', { ...readOnly, description: 'direct' }),
      attribute('$ref', {
        ...readOnly,
        type: 'reference',
        referenceTypes: ['Group'],
        description: 'Where the group is',
        caseExact: true,
      }),
    ],
  }),
];

const GROUP_ATTRIBUTES = [
  attribute('displayName', {
    description: 'The name of the group, by which it is mapped to teams',
    required: true,
    uniqueness: 'server',
  }),
  attribute('members', {
    type: 'complex',
    multiValued: true,
    description: 'The users in the group',
    subAttributes: [
      attribute('value', { mutability: 'immutable', description: 'The id of the user', caseExact: true }),
      attribute('display', { ...readOnly, description: 'The name of the user' }),
      attribute('type', { mutability: 'immutable', canonicalValues: ['User'], description: 'User' }),
      attribute('$ref', {
        mutability: 'immutable',
        type: 'reference',
        referenceTypes: ['User'],
        description: 'Where the user is',
        caseExact: true,
      }),
    ],
  }),
];

const schema = (
  baseUrl: string,
  one: { id: string; name: string; description: string; attributes: object[] },
): Resource => ({
  schemas: [SCIM_URNS.schema],
  ...one,
  meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${one.id}` },
});

const schemas = (baseUrl: string): Resource[] => [
  schema(baseUrl, {
    id: SCIM_URNS.user,
    name: 'User',
    description: 'An account',
    attributes: USER_ATTRIBUTES,
  }),
  schema(baseUrl, {
    id: SCIM_URNS.group,
    name: 'Group',
    description: 'A group of users',
    attributes: GROUP_ATTRIBUTES,
  }),
];

const resourceType = (baseUrl: string, name: 'User' | 'Group', urn: string): Resource => ({
  schemas: [SCIM_URNS.resourceType],
  id: name,
  name,
  endpoint: `/${name}s`,
  description: name === 'User' ? 'Accounts' : 'Groups of users',
  schema: urn,
  schemaExtensions: [],
  meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
});

const resourceTypes = (baseUrl: string): Resource[] => [
  resourceType(baseUrl, 'User', SCIM_URNS.user),
  resourceType(baseUrl, 'Group', SCIM_URNS.group),
];

const LISTS = { Schemas: schemas, ResourceTypes: resourceTypes };

export function describeAll(what: keyof typeof LISTS, baseUrl: string): Resource {
  const all = LISTS[what](baseUrl);
  return listOf(all, all.length, 1);
}

export function describeOne(what: keyof typeof LISTS, id: string, baseUrl: string): Resource {
  const found = LISTS[what](baseUrl).find((one) => String(one.id).toLowerCase() === id.toLowerCase());
  if (!found) throw notFound(what === 'Schemas' ? 'Schema' : 'Resource type');
  return found;
}
