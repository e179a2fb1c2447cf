import { type Failure, request, requestFailure, statusFailure } from '../link/http.ts';

export type Delivery = { accepted: true } | ({ accepted: false } & Failure);

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
      return answer.status === 200 ? { accepted: true } : { accepted: false, ...statusFailure(answer) };
    } catch (error) {
      return { accepted: false, ...requestFailure(error) };
    }
  };
}

/** Whether the same body would be refused again: it is wrong, too large, or not for this node. */
export function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}
