/** A request to each door of the controller, for tests of what holds at all of them. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { TestController } from '../harness/controller.ts';
import { makeTwoTeams, type TwoTeams } from '../scenes/two-teams.ts';
import { type HttpResponse, type SendOptions, send } from './http.ts';
import { makeKey } from './rest.ts';

export interface ApiCall {
  /** What a reader of a failed test is told. */
  what: string;
  method?: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: unknown;
  status: number;
  /** Read by no browser: it has fewer headers. */
  ofNodes?: true;
  /** What every origin may read. */
  open?: true;
  /** May be kept by the browser for a while; `never` otherwise. */
  kept?: 'until asked' | 'for ever';
}

export interface ApiSurfaces {
  teams: TwoTeams;
  rows: ApiCall[];
  /** Authorization of a service account with every permission. */
  key: OutgoingHttpHeaders;
  git: OutgoingHttpHeaders;
  node: OutgoingHttpHeaders;
  scim: OutgoingHttpHeaders;
  send(row: ApiCall, more?: SendOptions): Promise<HttpResponse>;
}

const basic = (token: string) => `Basic ${Buffer.from(`git:${token}`).toString('base64')}`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export async function makeApiSurfaces(test: TestController): Promise<ApiSurfaces> {
  const teams = await makeTwoTeams(test);
  const { environmentId } = teams.ours;
  const key = bearer((await makeKey(teams.root, environmentId)).key);
  const git = { authorization: basic(teams.token) };
  const node = bearer(teams.ours.node.nodeToken);
  await teams.root.mutate('settings.updateScim', { enabled: true });
  const scim = bearer((await teams.root.mutate<{ token: string }>('settings.generateScimToken')).token);
  const session = { cookie: teams.root.cookie };
  const refs = '/git/config.git/info/refs?service=git-upload-pack';
  const rows: ApiCall[] = [
    { what: 'the page', path: '/', status: 200 },
    { what: 'a page further in', path: `/e/${environmentId}/pipelines`, status: 200 },
    { what: 'a picture', path: '/favicon.svg', status: 200, kept: 'until asked' },
    { what: 'a file that is not there', path: '/assets/nothing.js', status: 404 },
    { what: 'an address that leads nowhere', method: 'PUT', path: '/nowhere', body: {}, status: 404 },
    { what: 'a path that is not well encoded', path: '/%zz', status: 200 },
    { what: 'the session, with one', path: '/api/auth/session', headers: session, status: 200 },
    { what: 'the session, without', path: '/api/auth/session', status: 401 },
    { what: 'the ways to sign in', path: '/api/auth/providers', status: 200 },
    {
      what: 'a wrong password',
      path: '/api/auth/sign-in',
      body: { email: 'nobody@example.org', password: 'not the password' },
      status: 401,
    },
    { what: 'a sign-in that is not well-formed', path: '/api/auth/sign-in', body: [], status: 400 },
    { what: 'an address below /api', path: '/api/nothing', status: 404 },
    { what: 'a procedure', path: '/api/trpc/user.me', headers: session, status: 200 },
    { what: 'a procedure, without a session', path: '/api/trpc/user.me', status: 401 },
    {
      what: 'a procedure with wrong input',
      path: `/api/trpc/team.list?input=${encodeURIComponent('{"json":{"surprise":1}}')}`,
      headers: session,
      status: 400,
    },
    { what: 'a procedure that is not there', path: '/api/trpc/no.such', headers: session, status: 404 },
    { what: 'REST', path: '/api/v1/pipelines', headers: key, status: 200 },
    { what: 'REST, without a key', path: '/api/v1/pipelines', status: 401 },
    { what: 'REST with another method', method: 'PATCH', path: '/api/v1/pipelines', status: 405 },
    { what: 'REST, nowhere', path: '/api/v1/nothing', status: 404 },
    {
      what: 'an export',
      path: '/api/audit/export?format=csv',
      headers: session,
      status: 200,
    },
    {
      what: 'the OpenAPI document',
      path: '/api/v1/openapi.json',
      status: 200,
      open: true,
      kept: 'until asked',
    },
    { what: 'SCIM', path: '/api/scim/v2/Users', headers: scim, status: 200 },
    { what: 'SCIM, without a token', path: '/api/scim/v2/Users', status: 401 },
    { what: 'SCIM, nowhere', path: '/api/scim/v2/Nothing', status: 404 },
    {
      what: 'SCIM with a filter that is none',
      path: '/api/scim/v2/Users?filter=x',
      headers: scim,
      status: 400,
    },
    { what: 'an export without a session', path: '/api/audit/export?format=csv', status: 401 },
    { what: 'single sign-on that is not set up', path: '/api/auth/oidc/login', status: 302 },
    { what: 'a schema', path: '/schemas/v1/pipeline.json', status: 200, open: true, kept: 'until asked' },
    { what: 'a schema that is not there', path: '/schemas/v1/constructor.json', status: 404 },
    { what: 'health', path: '/api/health', status: 200 },
    { what: 'readiness', path: '/api/health/ready', status: 200 },
    { what: 'the install script', path: '/agent/install.sh', status: 200, kept: 'until asked' },
    { what: 'the releases', path: '/agent/releases.json', status: 200, kept: 'until asked' },
    { what: 'a release that is not there', path: '/agent/releases/9.9.9/x', status: 404 },
    { what: 'the repository', path: refs, headers: git, status: 200 },
    { what: 'the repository, without a token', path: refs, status: 401 },
    { what: 'another repository', path: '/git/other.git/info/refs', headers: git, status: 404 },
    { what: 'a webhook of nobody', path: '/api/git/webhook/none', body: {}, status: 404 },
    { what: 'the config of a node', path: '/api/agent/config', headers: node, status: 200, ofNodes: true },
    { what: 'the config of no node', path: '/api/agent/config', status: 401, ofNodes: true },
    {
      what: 'a heartbeat that is none',
      path: '/api/agent/heartbeat',
      headers: node,
      body: [],
      status: 400,
      ofNodes: true,
    },
    {
      what: 'an enrollment without a token',
      path: '/api/agent/enroll',
      body: {},
      status: 400,
      ofNodes: true,
    },
    { what: 'another agent endpoint', path: '/api/agent/nothing', status: 404, ofNodes: true },
  ];
  return {
    teams,
    rows,
    key,
    git,
    node,
    scim,
    send: ({ method, path, headers, body }, more = {}) =>
      send(`${test.url}${path}`, {
        ...(method === undefined ? {} : { method }),
        ...(body === undefined ? {} : { body }),
        ...more,
        headers: { ...headers, ...more.headers },
      }),
  };
}
