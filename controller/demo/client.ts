/** The procedure API as the UI calls it: the demo is set up through the API that everything else uses. */
import superjson, { type SuperJSONResult } from 'superjson';

export class ProcedureError extends Error {}

export interface ApiClient {
  query<T>(procedure: string, input?: unknown): Promise<T>;
  /** The answer to a query, not read yet. */
  ask(procedure: string, input?: unknown): Promise<Response>;
  mutate<T>(procedure: string, input?: unknown): Promise<T>;
}

export async function signIn(url: string, email: string, password: string): Promise<ApiClient> {
  const answer = await fetch(`${url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (!answer.ok) throw new ProcedureError(`sign-in as ${email}: ${await answer.text()}`);
  const cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');

  const send = (request: string, init: RequestInit = {}) =>
    fetch(`${url}/api/trpc/${request}`, { ...init, headers: { cookie, 'content-type': 'application/json' } });
  const written = (input: unknown) => JSON.stringify(superjson.serialize(input ?? {}));
  const ask = (procedure: string, input?: unknown) =>
    send(`${procedure}?input=${encodeURIComponent(written(input))}`);
  return {
    ask,
    query: async (procedure, input) => read(procedure, await ask(procedure, input)),
    mutate: async (procedure, input) =>
      read(procedure, await send(procedure, { method: 'POST', body: written(input) })),
  };
}

async function read<T>(procedure: string, response: Response): Promise<T> {
  const body = (await response.json()) as {
    result?: { data: SuperJSONResult };
    error?: { json: { message: string } };
  };
  if (!body.result) throw new ProcedureError(`${procedure}: ${body.error?.json.message ?? response.status}`);
  return superjson.deserialize<T>(body.result.data, { inPlace: true });
}
