/** Users and groups as SCIM tells them. Locations begin with the base URL of the configuration, whatever a request says. */

import { SCIM_URNS } from '../../schemas/scim/common.ts';
import type { ScimGroup } from '../../schemas/scim/group.ts';
import type { ScimUser } from '../../schemas/scim/user.ts';
import type { Selection } from './query.ts';

export type Resource = Record<string, unknown>;

const meta = (type: 'User' | 'Group', one: { createdAt: Date; updatedAt: Date }, location: string) => ({
  resourceType: type,
  created: one.createdAt.toISOString(),
  lastModified: one.updatedAt.toISOString(),
  location,
});

export const locationOf = (baseUrl: string, type: 'User' | 'Group', id: string): string =>
  `${baseUrl}/${type}s/${encodeURIComponent(id)}`;

/** Without what is null: an attribute that nobody has set is not there. */
const present = (resource: Resource): Resource =>
  Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== null));

export function userResource(user: ScimUser, baseUrl: string): Resource {
  const name = present(user.name);
  return present({
    schemas: [SCIM_URNS.user],
    id: user.id,
    externalId: user.externalId,
    userName: user.userName,
    name: Object.keys(name).length > 0 ? name : null,
    displayName: user.displayName,
    emails: user.emails.length > 0 ? user.emails : null,
    active: user.active,
    groups: user.groups.map(({ value, display }) => ({
      ...{ value, display, type: 'direct' },
      $ref: locationOf(baseUrl, 'Group', value),
    })),
    meta: meta('User', user, locationOf(baseUrl, 'User', user.id)),
  });
}

export function groupResource(group: ScimGroup, baseUrl: string, withMembers: boolean): Resource {
  return present({
    schemas: [SCIM_URNS.group],
    id: group.id,
    externalId: group.externalId,
    displayName: group.displayName,
    members: withMembers
      ? group.members.map(({ value, display }) => ({
          ...{ value, display, type: 'User' },
          $ref: locationOf(baseUrl, 'User', value),
        }))
      : null,
    meta: meta('Group', group, locationOf(baseUrl, 'Group', group.id)),
  });
}

/** Returned always (RFC 7643, 7, "returned"). */
const ALWAYS: readonly string[] = ['schemas', 'id'];

/** RFC 7644, 3.9: only some of the attributes, or all but some. */
export function selected(resource: Resource, selection: Selection): Resource {
  const { only, but } = selection;
  if (only === null && but.size === 0) return resource;
  return Object.fromEntries(
    Object.entries(resource).flatMap(([key, value]) => {
      const name = key.toLowerCase();
      if (ALWAYS.includes(name)) return [[key, value]];
      if (but.has(name)) return [];
      if (only === null || only.has(name))
        return [[key, partsOf(value, (part) => !but.has(`${name}.${part}`))]];
      if (![...only].some((one) => one.startsWith(`${name}.`))) return [];
      return [[key, partsOf(value, (part) => only.has(`${name}.${part}`) && !but.has(`${name}.${part}`))]];
    }),
  );
}

/** Of an object, or of each of a list, the parts that are wanted. */
function partsOf(value: unknown, wanted: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => partsOf(one, wanted));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => wanted(key.toLowerCase())));
}

export const listOf = (resources: readonly Resource[], total: number, startIndex: number): Resource => ({
  schemas: [SCIM_URNS.list],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});
