import type { ConfigResponse } from '../../schemas/agent/protocol.ts';
import { LIMITS } from '../limits.ts';
import { parseConfig } from './answers.ts';
import { type Failure, request, requestFailure, statusFailure } from './http.ts';

export type PollOutcome =
  | { type: 'config'; config: ConfigResponse }
  | { type: 'unchanged' }
  | ({ type: 'failed' } & Failure);

const TIMEOUT_MS = 20_000;

/** Asks for the whole desired state. Whatever is not a well-formed answer is `failed` and must change nothing. */
export class Poller {
  readonly #url: string;
  readonly #token: string;
  #etag: string | undefined;

  constructor(url: string, token: string) {
    this.#url = `${url}/api/agent/config`;
    this.#token = token;
  }

  async poll(): Promise<PollOutcome> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}` };
    if (this.#etag) headers['if-none-match'] = this.#etag;
    try {
      const options = {
        method: 'GET',
        headers,
        timeoutMs: TIMEOUT_MS,
        maxBytes: LIMITS.configBytes,
      } as const;
      const answer = await request(this.#url, options);
      if (answer.status === 304 && this.#etag) return { type: 'unchanged' };
      if (answer.status !== 200) return { type: 'failed', ...statusFailure(answer) };
      const config = parseConfig(answer.text);
      this.#etag = answer.headers.get('etag') ?? undefined;
      return { type: 'config', config };
    } catch (error) {
      return { type: 'failed', ...requestFailure(error) };
    }
  }
}
