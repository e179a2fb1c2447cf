import type { HeartbeatRequest, HeartbeatResponse } from '../../schemas/agent/protocol.ts';
import { parseHeartbeatReply } from './answers.ts';
import { type Failure, request, requestFailure, statusFailure } from './http.ts';

const TIMEOUT_MS = 10_000;

export type HeartbeatOutcome =
  | { type: 'accepted'; reply: HeartbeatResponse }
  | ({ type: 'failed' } & Failure);

export async function sendHeartbeat(
  url: string,
  token: string,
  body: HeartbeatRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<HeartbeatOutcome> {
  try {
    const answer = await request(`${url}/api/agent/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs,
      maxBytes: 1024 * 1024,
    });
    if (answer.status >= 200 && answer.status < 300)
      return { type: 'accepted', reply: parseHeartbeatReply(answer.text) };
    return { type: 'failed', ...statusFailure(answer) };
  } catch (error) {
    return { type: 'failed', ...requestFailure(error) };
  }
}
