/** Sends one request of a stream, and classifies the answer. */
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import { OutgoingError } from '../../platform/net/outgoing/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { visible } from '../../platform/text/visible-text.ts';
import { logsUrl, otlpBody, type PartialSuccess, readPartialSuccess } from './otlp-request.ts';
import { SOURCES, type SourceEntry } from './source.ts';
import type { StreamRecord } from './store.ts';
import { signatureHeaders, webhookBody } from './webhook-request.ts';

export type Sent =
  | { taken: true; status: number; partial: PartialSuccess | null }
  | {
      taken: false;
      status: number | null;
      /** A sentence without the answer's own text, which may hold anything. */
      error: string;
      /** The same request may be taken later without a change of the stream. */
      isTemporary: boolean;
      /** As `Retry-After` asks. */
      retryAfterMs: number | null;
    };

const DEADLINE_MS = 10_000;
const MAX_MESSAGE = 200;
const HEADER_PLACE = 'sealed_headers';
const SECRET_PLACE = 'sealed_signing_secret';

type Endpoint = Pick<
  StreamRecord,
  'id' | 'kind' | 'source' | 'url' | 'sealedHeaders' | 'sealedSigningSecret'
>;

export const headersPlace = (id: string): string => sealingContext('event_streams', id, HEADER_PLACE);
export const secretPlace = (id: string): string => sealingContext('event_streams', id, SECRET_PLACE);

/** `id` names the request: the same for each try. `type` is of the body of a webhook, unless that of the source. */
export async function send(
  ctx: Context,
  stream: Endpoint,
  entries: readonly SourceEntry[],
  { id, type }: { id: string; type?: string },
): Promise<Sent> {
  const { services, clock } = ctx;
  const source = SOURCES[stream.source];
  let request: { url: string; body: string; headers: Record<string, string> };
  try {
    const given = openHeaders(ctx, stream);
    const now = clock.now();
    if (stream.kind === 'otlp') {
      const emitter = { scope: source.scope, baseUrl: services.baseUrl, now };
      request = { url: logsUrl(stream.url), body: otlpBody(entries, emitter), headers: given };
    } else {
      const body = webhookBody(
        type ?? source.type,
        entries.map(({ json }) => json),
      );
      const sealed = stream.sealedSigningSecret;
      const secret = sealed && services.keyring.open(sealed, secretPlace(stream.id));
      const signature = secret ? signatureHeaders(secret, { id, at: now, body }) : {};
      request = { url: stream.url, body, headers: { ...given, ...signature } };
    }
  } catch (error) {
    ctx.log.warn({ stream: stream.id, reason: String(error) }, 'a stream cannot be prepared');
    return failed('Its headers or its signing secret cannot be opened; enter them again', false);
  }
  try {
    const answer = await services.outgoing.ask(request.url, {
      ...{ method: 'POST', body: request.body, signal: ctx.signal, deadlineMs: DEADLINE_MS },
      headers: { ...request.headers, 'content-type': 'application/json' },
    });
    return await classify(answer, stream.kind, clock.now());
  } catch (error) {
    if (error instanceof OutgoingError) return failed(error.message, error.fault !== 'redirected');
    throw error;
  }
}

function openHeaders({ services }: Context, { id, sealedHeaders }: Endpoint): Record<string, string> {
  if (sealedHeaders === null) return {};
  return JSON.parse(services.keyring.open(sealedHeaders, headersPlace(id))) as Record<string, string>;
}

const failed = (error: string, isTemporary: boolean): Sent => ({
  ...{ taken: false, status: null, error, isTemporary, retryAfterMs: null },
});

async function classify(answer: Response, kind: StreamRecord['kind'], now: number): Promise<Sent> {
  const { status } = answer;
  if (status >= 200 && status < 300) {
    const partial = kind === 'otlp' ? readPartialSuccess(await answer.text()) : null;
    return {
      ...{ taken: true, status },
      partial: partial && { ...partial, message: visible(partial.message).slice(0, MAX_MESSAGE) },
    };
  }
  // 408, 425 and 429 ask for another try; so does what a server calls its own fault.
  const isTemporary = status >= 500 || [408, 425, 429].includes(status);
  return {
    ...{ taken: false, status, isTemporary },
    error: `The endpoint answered with status ${status}${isTemporary ? '' : '; check its address and headers'}`,
    retryAfterMs: retryAfterOf(answer.headers.get('retry-after'), now),
  };
}

/** Seconds, or a date of HTTP. */
function retryAfterOf(value: string | null, now: number): number | null {
  if (value === null) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
