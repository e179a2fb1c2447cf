/** Classifies why a connection failed: a name, a port, a certificate, or the time. */
import { isUntrusted, TargetRefusedError } from './guard.ts';

export interface Failure {
  /** Of the system or of the TLS library: texts may hold what was sent. */
  code: string;
  words: string;
  /** That was connected to, where it came to that. */
  address: string | null;
  /** The guard stopped it. */
  isForbidden: boolean;
}

const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name server does not know this name',
  EAI_AGAIN: 'the name server does not answer',
  ECONNREFUSED: 'the connection is refused; nothing listens at this port',
  ECONNRESET: 'the connection is cut off',
  EHOSTUNREACH: 'there is no way to this host',
  ENETUNREACH: 'there is no way to this network',
  EPROTO: 'what answers there does not speak TLS as it should; is it https?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; check the clocks',
};

export function failureOf(error: unknown): Failure {
  const causes: Record<string, unknown>[] = [];
  for (let one = error; one instanceof Error && causes.length < 5; one = one.cause)
    causes.push(one as unknown as Record<string, unknown>);
  // Of several addresses each has failed in its own way.
  const inner = causes.flatMap(({ errors }) => (Array.isArray(errors) ? errors : []))[0];
  if (inner instanceof Error) causes.push(inner as unknown as Record<string, unknown>);
  const coded = causes.find(({ code }) => typeof code === 'string' && code !== '') ?? causes[0] ?? {};
  const code = String(coded.code ?? coded.name ?? 'unknown').slice(0, 60);
  const address = causes.find((cause) => typeof cause.address === 'string')?.address;
  const isForbidden = causes.some((cause) => cause instanceof TargetRefusedError);
  return {
    code,
    address: typeof address === 'string' ? address : null,
    words: isForbidden ? 'it must not be asked' : wordsOf(code),
    isForbidden,
  };
}

function wordsOf(code: string): string {
  if (Object.hasOwn(WORDS, code)) return WORDS[code] ?? '';
  if (/TIMEOUT|TIMEDOUT|^Abort|^ABORT|UND_ERR_ABORTED|^23$|^20$/i.test(code))
    return 'it does not answer in time';
  if (isUntrusted(code)) return `its certificate is not trusted (${code}); give the authority that signed it`;
  if (/^(ERR_SSL|ERR_TLS|HPE_)/.test(code))
    return 'what answers there does not speak TLS or HTTP as it should';
  return 'the connection came to nothing';
}
