/** Reads and checks the metadata of a provider: OpenID Connect Discovery 1.0, section 4. */
import type { ServerMetadata } from 'openid-client';
import { TOKEN_ENDPOINT_AUTH_METHODS } from '../../../../schemas/api/identity/identity-providers.ts';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';

const DOCUMENT_BYTES = 256 * 1024;
const MAX_TEXT_LENGTH = 2_000;
const MAX_LIST_LENGTH = 500;

/** Only asymmetric signatures: neither `none` nor a shared secret. */
const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^(EdDSA|Ed25519)$/;

export interface Discovered {
  document: ServerMetadata;
  /** What prevents a sign-in, each with what to do. */
  problems: string[];
}

/** Fetches the metadata, without a cache. @throws OutgoingError, or an Error about the reply; both messages are for users. */
export async function discover(
  outgoing: Outgoing,
  { issuer, caCertificate }: { issuer: string; caCertificate: string },
): Promise<Discovered> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await outgoing.ask(address, { replyBytes: DOCUMENT_BYTES, caCertificate });
  if (answer.status !== 200)
    throw new Error(
      `${address} answers with status ${answer.status}; check that the issuer is exactly as the provider shows it`,
    );
  const metadata = readObject(await answer.text());
  if (!metadata) throw new Error(`${address} does not answer with a JSON object; check the issuer`);
  const document = readDocument(metadata);
  return { document, problems: problemsOf(document, issuer) };
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Takes over only the fields that we use. */
function readDocument(metadata: Record<string, unknown>): ServerMetadata {
  const text = (name: keyof ServerMetadata): Record<string, string> => {
    const value = metadata[name];
    return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH ? { [name]: value } : {};
  };
  const texts = (name: keyof ServerMetadata): string[] | null => {
    const value = metadata[name];
    if (!Array.isArray(value)) return null;
    return value
      .filter((item): item is string => typeof item === 'string' && item.length <= MAX_TEXT_LENGTH)
      .slice(0, MAX_LIST_LENGTH);
  };
  const list = (name: keyof ServerMetadata): Record<string, string[]> => {
    const value = texts(name);
    return value ? { [name]: value } : {};
  };
  // Symmetric algorithms in the list are ignored. Every provider must support RS256.
  const algorithms = (texts('id_token_signing_alg_values_supported') ?? ['RS256']).filter((one) =>
    ASYMMETRIC.test(one),
  );
  return {
    issuer: '',
    ...text('issuer'),
    ...text('authorization_endpoint'),
    ...text('token_endpoint'),
    ...text('jwks_uri'),
    ...text('userinfo_endpoint'),
    ...text('end_session_endpoint'),
    ...list('scopes_supported'),
    ...list('claims_supported'),
    ...list('response_types_supported'),
    ...list('code_challenge_methods_supported'),
    ...list('token_endpoint_auth_methods_supported'),
    authorization_response_iss_parameter_supported:
      metadata.authorization_response_iss_parameter_supported === true,
    id_token_signing_alg_values_supported: algorithms,
    userinfo_signing_alg_values_supported: algorithms,
  };
}

const SUPPORTED_METHODS: readonly string[] = TOKEN_ENDPOINT_AUTH_METHODS;

function problemsOf(document: ServerMetadata, issuer: string): string[] {
  const problems: string[] = [];
  if (document.issuer.includes('{tenantid}'))
    problems.push('This address is for all tenants; use the one that contains the id of your own tenant');
  else if (document.issuer !== issuer)
    problems.push(`The provider calls itself "${document.issuer}"; enter exactly that as the issuer`);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
    if (!isWebAddress(document[name]))
      problems.push(`The provider names no ${name}; is it an OpenID Connect provider?`);
  for (const name of ['userinfo_endpoint', 'end_session_endpoint'] as const)
    if (document[name] !== undefined && !isWebAddress(document[name]))
      problems.push(`The provider's ${name} is not a web address; correct it at the provider`);
  if (document.response_types_supported && !document.response_types_supported.includes('code'))
    problems.push('The provider does not offer the authorization code flow; turn it on for this client');
  // Many providers omit this list and support S256.
  const challenges = document.code_challenge_methods_supported;
  if (challenges && !challenges.includes('S256'))
    problems.push('The provider does not support PKCE with S256; turn it on at the provider');
  if (document.id_token_signing_alg_values_supported?.length === 0)
    problems.push('The provider does not sign ID tokens with its own key; configure RS256 or ES256 there');
  const methods = document.token_endpoint_auth_methods_supported;
  if (methods && !methods.some((method) => SUPPORTED_METHODS.includes(method)))
    problems.push(
      `The provider supports none of ${SUPPORTED_METHODS.join(', ')}; turn one on for this client`,
    );
  return problems;
}

function isWebAddress(text: string | undefined): boolean {
  const url = text === undefined ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
