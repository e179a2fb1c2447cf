/** Calls with JSON both ways, for forges without a client that is well kept. */
import { unwrapped } from './faults.ts';
import type { Transport } from './transport.ts';

export interface JsonResponse {
  body: unknown;
  headers: Headers;
}

export type JsonCall = (method: string, path: string, body?: unknown) => Promise<JsonResponse>;

/** `path` follows the address of the API, or is a whole address below it. @throws ForgeError */
export const jsonCalls =
  (transport: Transport, url: string, headers: Readonly<Record<string, string>>): JsonCall =>
  async (method, path, body) => {
    try {
      const answer = await transport.fetch(/^https?:\/\//.test(path) ? path : `${url}${path}`, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { body: text === '' ? null : JSON.parse(text), headers: answer.headers };
    } catch (error) {
      throw unwrapped(error, transport);
    }
  };
