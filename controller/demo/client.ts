/** The procedure API as the UI calls it: the demo is set up through the same door as everything else. */
import superjson, { type SuperJSONResult } from 'superjson';

export class ProcedureError extends Error {}

export interface ApiClient {
  query<T>(procedure: string, input?: unknown): Promise<T>;
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

  async function call<T>(procedure: string, request: string, init: RequestInit): Promise<T> {
    const response = await fetch(`${url}/api/trpc/${request}`, {
      ...init,
      headers: { cookie, 'content-type': 'application/json' },
    });
    const body = (await response.json()) as {
      result?: { data: SuperJSONResult };
      error?: { json: { message: string } };
    };
    if (!body.result)
      throw new ProcedureError(`${procedure}: ${body.error?.json.message ?? response.status}`);
    return superjson.deserialize<T>(body.result.data);
  }
  return {
    query: (procedure, input) =>
      call(
        procedure,
        `${procedure}?input=${encodeURIComponent(JSON.stringify(superjson.serialize(input ?? {})))}`,
        {},
      ),
    mutate: (procedure, input) =>
      call(procedure, procedure, { method: 'POST', body: JSON.stringify(superjson.serialize(input ?? {})) }),
  };
}
