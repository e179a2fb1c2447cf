import { errorText, LinkError, request, retryAfterMs } from '../link/http.ts';

/** `status` is undefined where no answer came. */
export type Delivery =
  | { taken: true }
  | { taken: false; reason: string; status: number | undefined; retryAfterMs: number | undefined };

/** Brings a body of JSON to an agent endpoint. */
export type Deliver = (endpoint: 'samples' | 'tap-events', body: string) => Promise<Delivery>;

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export function delivererTo(url: string, token: string): Deliver {
  return async (endpoint, body) => {
    try {
      const answer = await request(`${url}/api/agent/${endpoint}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
      });
      if (answer.status === 200) return { taken: true };
      const said = errorText(answer.text);
      return {
        taken: false,
        reason: said ? `status ${answer.status}: ${said}` : `status ${answer.status}`,
        status: answer.status,
        retryAfterMs: retryAfterMs(answer.headers, Date.now()),
      };
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      return { taken: false, reason: error.message, status: undefined, retryAfterMs: undefined };
    }
  };
}

/** Whether the same body would be refused again: it is wrong, too large, or not for this node. */
export function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}
