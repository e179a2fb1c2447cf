export interface HttpRequest {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  timeoutMs: number;
  /** Bytes of the answer after decompression; a longer one is an error. */
  maxBytes: number;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** No usable answer came. The message is short, for users: `connection refused`, `timed out`, … */
export class LinkError extends Error {
  override name = 'LinkError';
}

/** One request with limits on time and size. Redirects are answers, not followed: the node token goes nowhere else. */
export async function request(url: string, options: HttpRequest): Promise<HttpAnswer> {
  const { method, headers, body, timeoutMs, maxBytes } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { method, headers, body, signal, redirect: 'manual', ...route(url) });
    const text = await readBounded(response, maxBytes);
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    throw error instanceof LinkError ? error : new LinkError(describe(error), { cause: error });
  }
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * For `fetch`: what is on this machine is asked for directly, whatever HTTP_PROXY says. A proxy elsewhere would look for
 * the engines' metrics on its own machine.
 */
export function route(url: string): { proxy?: false } {
  return LOOPBACK.test(new URL(url).hostname) ? { proxy: false } : {};
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (announced > maxBytes) {
    await response.body?.cancel();
    throw new LinkError(`answer of ${announced} bytes is over the limit of ${maxBytes}`);
  }
  if (!response.body) return '';
  // Where the length is known to be small, the runtime's own reader is the cheaper one. Decompression hides it.
  if (announced > 0 && !response.headers.has('content-encoding')) return response.text();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body) {
    bytes += part.length;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) throw new LinkError(`answer is over the limit of ${maxBytes} bytes`);
    parts.push(part);
  }
  return new TextDecoder().decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
}

const PHRASES: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ConnectionRefused: 'connection refused',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  DNSException: 'host name not found',
  ECONNRESET: 'connection closed by the server',
  ConnectionClosed: 'connection closed by the server',
  TimeoutError: 'timed out',
  ETIMEDOUT: 'timed out',
  UND_ERR_CONNECT_TIMEOUT: 'timed out',
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

/** The runtimes name one and the same failure differently, and hide it at different depths. */
export function describe(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : at.name;
    if (CERTIFICATE.test(code)) return `certificate verify failed (${code})`;
    const phrase = PHRASES[code];
    if (phrase) return phrase;
    if (at instanceof AggregateError && at.errors[0] instanceof Error) return describe(at.errors[0]);
  }
  return error instanceof Error ? error.message.slice(0, 300) : 'request failed';
}

/**
 * Milliseconds that a 429 or 503 asks us to wait; undefined when it does not say. At most an hour. A date is compared
 * with the answer's own: this machine's clock, which `nowMs` is from, may be years off.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  const sentAt = Date.parse(headers.get('date') ?? '');
  const ms = /^\d{1,9}$/.test(text)
    ? Number(text) * 1_000
    : Date.parse(text) - (Number.isNaN(sentAt) ? nowMs : sentAt);
  return Number.isFinite(ms) ? Math.min(3_600_000, Math.max(0, ms)) : undefined;
}

/** Why a request came to nothing. */
export interface Failure {
  reason: string;
  /** Undefined where no usable answer came. */
  status: number | undefined;
  /** The controller's wish, where it has one. */
  retryAfterMs: number | undefined;
}

/** Of an answer with another status than was hoped for. */
export function statusFailure({ status, headers, text }: HttpAnswer): Failure {
  const detail = errorText(text);
  const reason = detail ? `status ${status}: ${detail}` : `status ${status}`;
  return { reason, status, retryAfterMs: retryAfterMs(headers, Date.now()) };
}

/** Of what `request` or the guard of an answer has thrown. Throws what is a fault of our own. */
export function requestFailure(error: unknown): Failure {
  if (!(error instanceof LinkError)) throw error;
  return { reason: error.message, status: undefined, retryAfterMs: undefined };
}

/** The `error` text of an agent endpoint's answer, bounded; empty when there is none. */
export function errorText(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'string') {
      return value.error.slice(0, 300);
    }
  } catch {
    // A proxy's HTML page tells nothing that the status does not.
  }
  return '';
}
