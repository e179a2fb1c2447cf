/** Explains what went wrong at a provider, in a sentence that holds no key. Pure. */
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import { DomainError, unavailable } from '../../../platform/operation/errors.ts';
import { isRecord } from '../../../platform/text/is-record.ts';
import { visible } from '../../../platform/text/visible-text.ts';

const MAX_QUOTE = 300;

const causesOf = (error: unknown): unknown[] => {
  const causes: unknown[] = [];
  for (let one = error; one !== undefined && one !== null && causes.length < 5; ) {
    causes.push(one);
    one = isRecord(one) || one instanceof Error ? (one as { cause?: unknown }).cause : null;
  }
  return causes;
};

/** What the clients of vendors throw for an answer with an error. */
interface VendorError {
  status?: unknown;
  headers?: unknown;
  error?: unknown;
}

/** The text of the provider's own error, without the key. */
function quote({ error }: VendorError, apiKey: string | null): string {
  // OpenAI gives { message }, Anthropic { error: { message } }.
  const inner = isRecord(error) && isRecord(error.error) ? error.error : error;
  const message = isRecord(inner) && typeof inner.message === 'string' ? inner.message : '';
  const plain = apiKey === null ? message : message.replaceAll(apiKey, '…');
  return plain === '' ? '' : `: ${visible(plain).slice(0, MAX_QUOTE)}`;
}

const retryAfterOf = (headers: unknown): number | null => {
  const value = headers instanceof Headers ? headers.get('retry-after') : null;
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) : null;
};

/** A DomainError passes as it is. `apiKey` is taken out of what is quoted. */
export function providerError(error: unknown, apiKey: string | null): DomainError {
  const causes = causesOf(error);
  const known = causes.find((cause) => cause instanceof DomainError);
  if (known instanceof DomainError) return known;
  const outgoing = causes.find((cause) => cause instanceof OutgoingError);
  if (outgoing instanceof OutgoingError)
    return unavailable(`The AI provider cannot be used: ${outgoing.message}`);
  const vendor = (isRecord(error) || error instanceof Error ? error : {}) as VendorError;
  const { status } = vendor;
  if (typeof status === 'number') return ofStatus(status, vendor, apiKey);
  const quoted = quote(vendor, apiKey);
  return unavailable(
    quoted === ''
      ? 'The AI provider answers in a form that Headgate does not understand; an ADMIN has to check its kind and its address'
      : `The AI provider reports an error in its answer${quoted}`,
  );
}

function ofStatus(status: number, vendor: VendorError, apiKey: string | null): DomainError {
  const quoted = quote(vendor, apiKey);
  if (status === 401 || status === 403)
    return unavailable(
      `The AI provider does not accept the API key (status ${status}); an ADMIN has to enter another one`,
    );
  if (status === 404)
    return unavailable(
      `The AI provider knows nothing at this address, or does not know the model (status 404)${quoted}; an ADMIN has to check both`,
    );
  if (status === 429) {
    const retryAfterSeconds = retryAfterOf(vendor.headers) ?? 60;
    return new DomainError(
      'TOO_MANY_REQUESTS',
      `The AI provider limits how often it is asked (status 429)${quoted}; try again in ${retryAfterSeconds} s`,
      { retryAfterSeconds },
    );
  }
  if (status >= 500)
    return unavailable(
      `The AI provider has an error of its own (status ${status})${quoted}; try again later`,
    );
  return unavailable(`The AI provider rejects the request (status ${status})${quoted}`);
}
