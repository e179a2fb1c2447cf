/** The certificate authorities that a server may be signed by: the system's, Node's own, and those that a binding names. */
import { createSecureContext, getCACertificates, rootCertificates, type SecureContext } from 'node:tls';

let common: readonly string[] | null = null;

/** As PEM, for git's `http.sslCAInfo`, which takes the place of its own list. */
export function authoritiesWith(caCertificate: string): string {
  return [...commonAuthorities(), caCertificate.trim(), ''].join('\n');
}

function commonAuthorities(): readonly string[] {
  common ??= [...new Set([...getCACertificates('system'), ...rootCertificates])].map((pem) => pem.trim());
  return common;
}

const KEPT = 20;
const contexts = new Map<string, SecureContext>();

/** Making one of hundreds of certificates takes longer than a request, so it is kept. */
export function secureContextWith(caCertificate: string | null): SecureContext {
  const key = caCertificate ?? '';
  const known = contexts.get(key);
  if (known) return known;
  const made = createSecureContext({
    ca: [...commonAuthorities(), ...(caCertificate ? [caCertificate] : [])],
  });
  if (contexts.size >= KEPT) contexts.clear();
  contexts.set(key, made);
  return made;
}
