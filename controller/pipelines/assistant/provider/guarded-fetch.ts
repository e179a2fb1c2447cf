/** The fetch of the vendors' clients: every request goes the guarded way, within limits of time and size. */

import type { Outgoing } from '../../../platform/net/outgoing/index.ts';
import { badRequest } from '../../../platform/operation/errors.ts';
import type { ClientSettings } from './model-client.ts';

/** An answer takes no longer, whatever it says. */
export const ANSWER_DEADLINE_MS = 600_000;
/** Each token comes in an event of some hundred bytes. */
const REPLY_BYTES = 16 * 1024 * 1024;
/** A client that is asked to wait longer gives up; the user is asked instead. */
const LONGEST_WAIT_SECONDS = 3;

export function guardedFetch(outgoing: Outgoing): ClientSettings['fetch'] {
  return async (address, init = {}) => {
    if (typeof init.body !== 'string' && init.body !== undefined && init.body !== null)
      throw badRequest('Only texts are sent to a provider');
    const answer = await outgoing.ask(address instanceof Request ? address.url : address, {
      method: init.method?.toUpperCase() === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body ?? null,
      ...(init.signal ? { signal: init.signal } : {}),
      ...{ deadlineMs: ANSWER_DEADLINE_MS, replyBytes: REPLY_BYTES, redirects: 0, streamBody: true },
    });
    // As both vendors' clients understand it.
    if (Number(answer.headers.get('retry-after') ?? 0) > LONGEST_WAIT_SECONDS)
      answer.headers.set('x-should-retry', 'false');
    return answer;
  };
}
