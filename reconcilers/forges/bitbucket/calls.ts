/** Calls to Bitbucket Cloud: JSON both ways, and lists that name their next page. */
import Type from 'typebox';
import { Maybe, read } from '../response-schemas.ts';
import { type JsonResponse, jsonCalls } from '../transport/json-calls.ts';
import type { Transport } from '../transport/transport.ts';

const Page = Type.Object({
  values: Type.Array(Type.Unknown()),
  next: Maybe(Type.String({ maxLength: 4_096 })),
});
const MOST_PAGES = 50;

/** An access token of a repository, project or workspace; or `user:password`, also with a token as the password. */
const authorizationOf = (token: string): string =>
  token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;

export function bitbucketCalls(transport: Transport, url: string, token: string) {
  const authorization = authorizationOf(token);
  const { label } = transport;

  const call = jsonCalls(transport, url, { authorization });

  async function* pages(path: string): AsyncGenerator<readonly unknown[]> {
    let next: string | null = path;
    for (let page = 0; next !== null && page < MOST_PAGES; page += 1) {
      const answer: JsonResponse = await call('GET', next);
      const { values, next: following } = read(label, Page, answer.body);
      yield values;
      next = following ?? null;
    }
  }

  return { call, pages };
}
