/** What GitLab's client asks with in the place of its own: it would follow redirects, wait at will and try ten times. */
import type { MergeRequests } from '@gitbeaker/rest';
import type { Transport } from '../transport/transport.ts';

type RequesterFn = NonNullable<NonNullable<ConstructorParameters<typeof MergeRequests>[0]>['requesterFn']>;
type Requester = ReturnType<RequesterFn>;
type Asked = Parameters<Requester['get']>[1];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

export function gitLabRequester(transport: Transport): RequesterFn {
  // Some of its resources have a part of the path in their address.
  return ({ authHeaders, url }) => {
    const ask = async (method: string, endpoint: string, { searchParams, body }: NonNullable<Asked> = {}) => {
      const target = new URL(`${url.replace(/\/+$/, '')}/${endpoint}`);
      for (const [name, value] of Object.entries(inSnakeCase(searchParams ?? {})))
        target.searchParams.set(name, String(value));
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(authHeaders)) headers[name] = await value();
      const isSent = body !== undefined && method !== 'GET';
      if (isSent) headers['content-type'] = 'application/json';
      const answer = await transport.fetch(target, {
        method,
        headers,
        ...(isSent ? { body: JSON.stringify(inSnakeCase(body as Record<string, unknown>)) } : {}),
      });
      const text = await answer.text();
      return {
        body: text === '' ? null : JSON.parse(text),
        headers: Object.fromEntries(answer.headers),
        status: answer.status,
      };
    };
    return Object.fromEntries(
      METHODS.map((method) => [
        method,
        (endpoint: string, asked?: Asked) => ask(method.toUpperCase(), endpoint, asked),
      ]),
    ) as unknown as Requester;
  };
}

/** Of a flat object: `perPage` is `per_page` there. */
const inSnakeCase = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );
