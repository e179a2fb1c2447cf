import type { ComponentMetrics } from '../telemetry/component-metrics.ts';
import { ENGINE_VERSION } from '../version.ts';

export interface HttpTarget {
  /** Without credentials; it may still hold a secret, so it is never logged. */
  url: string;
  method: string;
  headers: Record<string, string>;
  timeoutMs: number;
}

/** An answer's status, or why there was none. */
export type Answer = { status: number } | { timedOut: true } | { error: string };

/** Of an answer's body; reading it lets the connection be used again. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Sends one request. Never throws; redirects are not followed. */
export async function sendRequest(
  target: HttpTarget,
  body: Buffer<ArrayBuffer> | undefined,
  metrics?: ComponentMetrics,
): Promise<Answer> {
  const { method, url, headers, timeoutMs } = target;
  metrics?.count('http_client_requests_sent_total', { method });
  try {
    const response = await fetch(url, {
      method,
      headers: {
        'user-agent': `headgate-engine/${ENGINE_VERSION}`,
        'accept-encoding': 'identity',
        ...headers,
      },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body && { body }),
    });
    await drain(response);
    metrics?.count('http_client_responses_total', { status: String(response.status) });
    return { status: response.status };
  } catch (error) {
    const timedOut = (error as Error).name === 'TimeoutError';
    metrics?.count('http_client_errors_total', { error_kind: timedOut ? 'timeout' : 'connect' });
    return timedOut ? { timedOut } : { error: reasonOf(error) };
  }
}

async function drain(response: Response): Promise<void> {
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) return;
  }
}

/** Codes of Node and of Bun in the system's words. */
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'error trying to connect: tcp connect error: Connection refused (os error 111)',
  ConnectionRefused: 'error trying to connect: tcp connect error: Connection refused (os error 111)',
  ECONNRESET: 'Connection reset by peer (os error 104)',
  ConnectionClosed: 'connection closed before message completed',
  UND_ERR_SOCKET: 'connection closed before message completed',
  ENOTFOUND: 'failed to look up the address: Name or service not known',
};

/** The reason by its code alone: messages of clients may quote the address, with what is secret in it. */
function reasonOf(error: unknown): string {
  const { cause, code, name } = error as { cause?: { code?: unknown }; code?: unknown; name?: unknown };
  const known = [cause?.code, code].find((value): value is string => typeof value === 'string');
  return `Failed to make HTTP(S) request: ${(known && (REASONS[known] ?? known)) ?? String(name)}`;
}
