/** Users and groups, as POST and PUT bring them. What is not kept here, a password for one, is left out. */
import { scimError } from '../../controller/identity/scim/index.ts';
import { SCIM_LIMITS, SCIM_URNS } from '../../schemas/scim/common.ts';
import type { GroupInput } from '../../schemas/scim/group.ts';
import type { ScimName, UserInput } from '../../schemas/scim/user.ts';
import { bodyOf, booleanOf, emailsOf, type Fields, fieldsOf, memberIdsOf, stringOf, textOf } from './json.ts';

function nameOf(given: unknown): ScimName {
  const fields: Fields = given === undefined || given === null ? new Map() : fieldsOf(given, 'name');
  return {
    formatted: stringOf(fields.get('formatted'), 'name.formatted'),
    givenName: stringOf(fields.get('givenname'), 'name.givenName'),
    familyName: stringOf(fields.get('familyname'), 'name.familyName'),
  };
}

const externalIdOf = (fields: Fields) =>
  fields.has('externalid') ? { externalId: textOf(fields.get('externalid'), 'externalId') } : {};

export function readUserInput(body: unknown): UserInput {
  const fields = bodyOf(body, SCIM_URNS.user);
  const userName = stringOf(fields.get('username'), 'userName', SCIM_LIMITS.address);
  if (userName === null) throw scimError('invalidValue', 'userName is required');
  const active = booleanOf(fields.get('active'), 'active');
  return {
    userName,
    ...externalIdOf(fields),
    displayName: stringOf(fields.get('displayname'), 'displayName'),
    name: nameOf(fields.get('name')),
    emails: emailsOf(fields.get('emails')),
    ...(active === undefined ? {} : { active }),
  };
}

export function readGroupInput(body: unknown): GroupInput {
  const fields = bodyOf(body, SCIM_URNS.group);
  const displayName = stringOf(fields.get('displayname'), 'displayName');
  if (displayName === null) throw scimError('invalidValue', 'displayName is required');
  return { displayName, ...externalIdOf(fields), members: memberIdsOf(fields.get('members')) };
}
