/** Every request of SCIM: its method and path, and what is done with it. */
import type { IncomingMessage } from 'node:http';
import {
  scimGroupOperations as groups,
  scimUserOperations as users,
} from '../../controller/identity/scim/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { forbidden } from '../../controller/platform/operation/errors.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { ScimGroup } from '../../schemas/scim/group.ts';
import type { ScimUser } from '../../schemas/scim/user.ts';
import { readScimBody } from './body.ts';
import { describeAll, describeOne, serviceProviderConfig } from './discovery.ts';
import { ScimError } from './errors.ts';
import { readGroupPatch } from './patch-group.ts';
import { readUserPatch } from './patch-user.ts';
import { asksFor, type Query, readQuery, readSearch } from './query.ts';
import { readGroupInput, readUserInput } from './read-resources.ts';
import { groupResource, listOf, locationOf, type Resource, selected, userResource } from './resources.ts';

export interface ScimRequest {
  ctx: Context;
  execute: Execute;
  /** Of SCIM. */
  baseUrl: string;
  /** Of the resource, where the path names one. */
  id: string;
  querystring: string;
  message: IncomingMessage;
}
export interface ScimResponse {
  status: 200 | 201 | 204;
  /** None with 204. */
  body?: Resource;
  /** Of what was made. */
  location?: string;
}
export interface ScimRow {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL; `:id` is one. */
  path: string;
  answer(request: ScimRequest): Promise<ScimResponse> | ScimResponse;
}

const body = ({ message }: ScimRequest): Promise<unknown> => readScimBody(message);
const done = (resource: Resource): ScimResponse => ({ status: 200, body: resource });
const made = (resource: Resource, location: string): ScimResponse => ({
  status: 201,
  body: resource,
  location,
});

const shownUser = (user: ScimUser, { baseUrl }: ScimRequest, { selection }: Query): Resource =>
  selected(userResource(user, baseUrl), selection);
const shownGroup = (group: ScimGroup, { baseUrl }: ScimRequest, { selection }: Query): Resource =>
  selected(groupResource(group, baseUrl, asksFor(selection, 'members')), selection);

async function listUsers(request: ScimRequest, query: Query): Promise<ScimResponse> {
  const input = { ...query.page, filter: query.filter };
  const { total, users: found } = await request.execute(users.listScimUsers, request.ctx, input);
  const resources = found.map((user) => shownUser(user, request, query));
  return done(listOf(resources, total, query.page.startIndex));
}

async function listGroups(request: ScimRequest, query: Query): Promise<ScimResponse> {
  const members = asksFor(query.selection, 'members');
  const input = { ...query.page, members, filter: query.filter };
  const { total, groups: found } = await request.execute(groups.listScimGroups, request.ctx, input);
  const resources = found.map((group) => shownGroup(group, request, query));
  return done(listOf(resources, total, query.page.startIndex));
}

async function readGroup(request: ScimRequest, id: string): Promise<Resource> {
  const query = readQuery(request.querystring);
  const input = { id, members: asksFor(query.selection, 'members') };
  const group = await request.execute(groups.getScimGroup, request.ctx, input);
  return shownGroup(group, request, query);
}

/** RFC 7644, 4: what describes the service is not filtered. */
function unfiltered(request: ScimRequest): void {
  if (readQuery(request.querystring).filter !== null)
    throw forbidden('This list takes no filter; leave it out');
}

const DISCOVERY: readonly ScimRow[] = [
  {
    method: 'GET',
    path: '/ServiceProviderConfig',
    answer(request) {
      unfiltered(request);
      return done(serviceProviderConfig(request.baseUrl));
    },
  },
  ...(['Schemas', 'ResourceTypes'] as const).flatMap((what): ScimRow[] => [
    {
      method: 'GET',
      path: `/${what}`,
      answer(request) {
        unfiltered(request);
        return done(describeAll(what, request.baseUrl));
      },
    },
    {
      method: 'GET',
      path: `/${what}/:id`,
      answer: ({ id, baseUrl }) => done(describeOne(what, id, baseUrl)),
    },
  ]),
];

const USERS: readonly ScimRow[] = [
  { method: 'GET', path: '/Users', answer: (request) => listUsers(request, readQuery(request.querystring)) },
  {
    method: 'POST',
    path: '/Users/.search',
    answer: async (request) => listUsers(request, readSearch(await body(request))),
  },
  {
    method: 'POST',
    path: '/Users',
    async answer(request) {
      const query = readQuery(request.querystring);
      const input = readUserInput(await body(request));
      const user = await request.execute(users.createScimUser, request.ctx, input);
      return made(shownUser(user, request, query), locationOf(request.baseUrl, 'User', user.id));
    },
  },
  {
    method: 'GET',
    path: '/Users/:id',
    async answer(request) {
      const query = readQuery(request.querystring);
      const user = await request.execute(users.getScimUser, request.ctx, { id: request.id });
      return done(shownUser(user, request, query));
    },
  },
  {
    method: 'PUT',
    path: '/Users/:id',
    async answer(request) {
      const query = readQuery(request.querystring);
      const input = { id: request.id, user: readUserInput(await body(request)) };
      return done(
        shownUser(await request.execute(users.replaceScimUser, request.ctx, input), request, query),
      );
    },
  },
  {
    method: 'PATCH',
    path: '/Users/:id',
    async answer(request) {
      const query = readQuery(request.querystring);
      const input = { id: request.id, changes: readUserPatch(await body(request)) };
      return done(shownUser(await request.execute(users.patchScimUser, request.ctx, input), request, query));
    },
  },
  {
    method: 'DELETE',
    path: '/Users/:id',
    async answer({ execute, ctx, id }) {
      await execute(users.deleteScimUser, ctx, { id });
      return { status: 204 };
    },
  },
];

const GROUPS: readonly ScimRow[] = [
  {
    method: 'GET',
    path: '/Groups',
    answer: (request) => listGroups(request, readQuery(request.querystring)),
  },
  {
    method: 'POST',
    path: '/Groups/.search',
    answer: async (request) => listGroups(request, readSearch(await body(request))),
  },
  {
    method: 'POST',
    path: '/Groups',
    async answer(request) {
      const input = readGroupInput(await body(request));
      const { id } = await request.execute(groups.createScimGroup, request.ctx, input);
      return made(await readGroup(request, id), locationOf(request.baseUrl, 'Group', id));
    },
  },
  {
    method: 'GET',
    path: '/Groups/:id',
    answer: async (request) => done(await readGroup(request, request.id)),
  },
  {
    method: 'PUT',
    path: '/Groups/:id',
    async answer(request) {
      const input = { id: request.id, group: readGroupInput(await body(request)) };
      await request.execute(groups.replaceScimGroup, request.ctx, input);
      return done(await readGroup(request, request.id));
    },
  },
  {
    // RFC 7644, 3.5.2: the group is returned only where its attributes are requested. It may have thousands of members.
    method: 'PATCH',
    path: '/Groups/:id',
    async answer(request) {
      const { selection } = readQuery(request.querystring);
      const input = { id: request.id, changes: readGroupPatch(await body(request)) };
      await request.execute(groups.patchScimGroup, request.ctx, input);
      return selection.only === null ? { status: 204 } : done(await readGroup(request, request.id));
    },
  },
  {
    method: 'DELETE',
    path: '/Groups/:id',
    async answer({ execute, ctx, id }) {
      await execute(groups.deleteScimGroup, ctx, { id });
      return { status: 204 };
    },
  },
];

/** What RFC 7644 lets a service leave out (3.4.3, 3.7, 3.11), it wants to be answered with 501. */
export const NOT_IMPLEMENTED: readonly ScimRow[] = ['/Me', '/Bulk', '/.search'].flatMap((path) =>
  (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map(
    (method): ScimRow => ({
      method,
      path,
      answer() {
        throw new ScimError(
          501,
          `${path} is not implemented; ask /Users and /Groups, each resource by a request of its own`,
        );
      },
    }),
  ),
);

export const SCIM_ROWS: readonly ScimRow[] = [...DISCOVERY, ...USERS, ...GROUPS];
