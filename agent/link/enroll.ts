import type { EnrollRequest, EnrollResponse } from '../../schemas/agent/protocol.ts';
import { MalformedAnswer, parseEnrollment } from './answers.ts';
import { errorText, LinkError, request } from './http.ts';

/** Ends the start. `message` has the wording of the protocol, `remedy` says what to do. */
export class EnrollError extends Error {
  override name = 'EnrollError';
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`enrollment failed: ${reason}`);
    this.remedy = remedy;
  }
}

const STATUS_REMEDIES: Record<number, string> = {
  401: 'The enrollment token is invalid or has expired: set SVC_TOKEN to a new one.',
  403: 'The enrollment token is used up or revoked, or the node limit is reached: set SVC_TOKEN to a new one.',
  429: 'Too many enrollments from this address: wait a minute.',
};

/** Trades the enrollment token for a node token. Throws EnrollError. */
export async function enroll(url: string, body: EnrollRequest): Promise<EnrollResponse> {
  try {
    const answer = await request(`${url}/api/agent/enroll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: 30_000,
      maxBytes: 65_536,
    });
    if (answer.status !== 200 && answer.status !== 201) {
      const detail = errorText(answer.text);
      const remedy = STATUS_REMEDIES[answer.status] ?? 'Check that SVC_URL is the address of the controller.';
      throw new EnrollError(
        `(status ${answer.status})`,
        detail ? `${remedy} The controller said: ${detail}` : remedy,
      );
    }
    return parseEnrollment(answer.text);
  } catch (error) {
    if (error instanceof MalformedAnswer) {
      throw new EnrollError(
        `unexpected answer: ${error.message}`,
        'Check that SVC_URL is the address of the controller.',
      );
    }
    if (error instanceof LinkError) throw new EnrollError(error.message, networkRemedy(error.message, url));
    throw error;
  }
}

function networkRemedy(reason: string, url: string): string {
  if (reason.startsWith('certificate')) {
    return 'Fix the certificate, or name its authority in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.';
  }
  return `Check that ${url} is right, that the controller runs, and that a proxy in HTTPS_PROXY or HTTP_PROXY lets through to it.`;
}
