/** An identity provider, as it comes to SCIM: with its token, and raw, so that every status and body can be seen. */
import { expect } from 'chai';
import { type HttpResponse, type SendOptions, send } from '../../clients/http.ts';
import { use } from '../../harness/use.ts';
import type { TestUser } from '../../users/person.ts';

export interface ScimClient {
  token: string;
  /** `http://…/api/scim/v2` */
  base: string;
  call(method: string, path: string, body?: unknown, options?: SendOptions): Promise<HttpResponse>;
  /** The body; fails where the status is another one. */
  want<T = Json>(status: number, method: string, path: string, body?: unknown): Promise<T>;
  /** Makes a user; answers its id. */
  user(userName: string, more?: object): Promise<string>;
  /** Makes a group; answers its id. */
  group(displayName: string, members?: readonly string[], more?: object): Promise<string>;
  patch(path: string, ...operations: object[]): Promise<HttpResponse>;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at field by field.
export type Json = any;

export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Switched on, with a new token. */
export async function scimOf(root: TestUser): Promise<ScimClient> {
  await root.mutate('settings.updateScim', { enabled: true });
  const { token } = await root.mutate<{ token: string }>('settings.generateScimToken');
  return scimClient(root.url, token);
}

export function scimClient(url: string, token: string): ScimClient {
  const base = `${url}/api/scim/v2`;
  const call: ScimClient['call'] = (method, path, body, options = {}) =>
    send(`${base}${path}`, {
      ...options,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const want: ScimClient['want'] = async (status, method, path, body) => {
    const answer = await call(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text.slice(0, 500)}`).to.equal(status);
    return answer.text === '' ? (null as never) : answer.json();
  };
  return {
    token,
    base,
    call,
    want,
    user: async (userName, more = {}) => (await want(201, 'POST', '/Users', { userName, ...more })).id,
    group: async (displayName, members = [], more = {}) =>
      (
        await want(201, 'POST', '/Groups', {
          displayName,
          members: members.map((value) => ({ value })),
          ...more,
        })
      ).id,
    patch: (path, ...Operations) => call('PATCH', path, { schemas: [PATCH_OP], Operations }),
  };
}

/** An error in the schema of RFC 7644, 3.12, and nothing beside it. */
export function expectError(answer: HttpResponse, status: number, scimType?: string): string {
  expect(answer.status, answer.text.slice(0, 500)).to.equal(status);
  expect(answer.headers['content-type']).to.match(/^application\/scim\+json/);
  const { detail, ...rest } = answer.json<{ detail: string }>();
  expect(rest).to.deep.equal({
    schemas: [ERROR],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
  });
  expect(detail).to.be.a('string').with.length.below(1_000);
  return detail;
}

export const useScim = (root: TestUser) => use(() => scimOf(root));
