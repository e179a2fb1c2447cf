/** Calls to Bitbucket Cloud: JSON both ways, and lists that name their next page. */
import Type from 'typebox';
import { unwrapped } from './faults.ts';
import { Maybe, read } from './reading.ts';
import type { Transport } from './transport.ts';

const Page = Type.Object({
  values: Type.Array(Type.Unknown()),
  next: Maybe(Type.String({ maxLength: 4_096 })),
});
const MOST_PAGES = 50;

export interface Answer {
  body: unknown;
  headers: Headers;
}

/** An access token of a repository, project or workspace; or `user:password`, also with a token as the password. */
const authorizationOf = (token: string): string =>
  token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;

export function bitbucketCalls(transport: Transport, url: string, token: string) {
  const authorization = authorizationOf(token);
  const { label } = transport;

  async function call(method: string, path: string, body?: object): Promise<Answer> {
    try {
      const answer = await transport.fetch(/^https?:\/\//.test(path) ? path : `${url}${path}`, {
        method,
        headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await answer.text();
      return { body: text === '' ? null : JSON.parse(text), headers: answer.headers };
    } catch (error) {
      throw unwrapped(error, transport);
    }
  }

  async function* pages(path: string): AsyncGenerator<readonly unknown[]> {
    let next: string | null = path;
    for (let page = 0; next !== null && page < MOST_PAGES; page += 1) {
      const answer: Answer = await call('GET', next);
      const { values, next: following } = read(label, Page, answer.body);
      yield values;
      next = following ?? null;
    }
  }

  return { call, pages };
}
