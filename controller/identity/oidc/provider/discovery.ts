/** What a provider says of itself: OpenID Connect Discovery 1.0, section 4. */
import type { ServerMetadata } from 'openid-client';
import { TOKEN_ENDPOINT_AUTH_METHODS } from '../../../../schemas/api/identity-providers.ts';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';

const DOCUMENT_BYTES = 256 * 1024;
const TEXT = 2_000;
const LISTED = 500;

/** Signed with a key that only the provider has: never `none`, nor with what we know too. */
const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^(EdDSA|Ed25519)$/;

export interface Discovered {
  document: ServerMetadata;
  /** What keeps people from signing in, each with what to do. */
  problems: string[];
}

/** Asks anew. @throws OutgoingError, or an Error with what is wrong with the answer: both are for people. */
export async function discover(
  outgoing: Outgoing,
  { issuer, caCertificate }: { issuer: string; caCertificate: string },
): Promise<Discovered> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await outgoing.ask(address, { replyBytes: DOCUMENT_BYTES, caCertificate });
  if (answer.status !== 200)
    throw new Error(
      `${address} answers with status ${answer.status}; is the issuer right, as the provider shows it?`,
    );
  const said = readObject(await answer.text());
  if (!said)
    throw new Error(`${address} answers with something else than a JSON object; is the issuer right?`);
  const document = readDocument(said);
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

/** What is used of it, and nothing else. */
function readDocument(said: Record<string, unknown>): ServerMetadata {
  const text = (name: keyof ServerMetadata): Record<string, string> => {
    const value = said[name];
    return typeof value === 'string' && value.length <= TEXT ? { [name]: value } : {};
  };
  const texts = (name: keyof ServerMetadata): string[] | null => {
    const value = said[name];
    if (!Array.isArray(value)) return null;
    return value
      .filter((item): item is string => typeof item === 'string' && item.length <= TEXT)
      .slice(0, LISTED);
  };
  const list = (name: keyof ServerMetadata): Record<string, string[]> => {
    const value = texts(name);
    return value ? { [name]: value } : {};
  };
  // Those that it says it also takes must not talk us into taking them. RS256 is what all have to know.
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
      said.authorization_response_iss_parameter_supported === true,
    id_token_signing_alg_values_supported: algorithms,
    userinfo_signing_alg_values_supported: algorithms,
  };
}

const KNOWN_METHODS: readonly string[] = TOKEN_ENDPOINT_AUTH_METHODS;

function problemsOf(document: ServerMetadata, issuer: string): string[] {
  const problems: string[] = [];
  if (document.issuer.includes('{tenantid}'))
    problems.push('This address is for every tenant; give the one with the id of your own tenant in it');
  else if (document.issuer !== issuer)
    problems.push(`The provider calls itself "${document.issuer}"; give exactly that as the issuer`);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
    if (!isWebAddress(document[name]))
      problems.push(`The provider names no ${name}; is it an OpenID Connect provider?`);
  for (const name of ['userinfo_endpoint', 'end_session_endpoint'] as const)
    if (document[name] !== undefined && !isWebAddress(document[name]))
      problems.push(`The provider's ${name} is no web address; correct it at the provider`);
  if (document.response_types_supported && !document.response_types_supported.includes('code'))
    problems.push('The provider does not offer the authorization code flow; switch it on for this client');
  // Many leave this list out and take S256 all the same.
  const challenges = document.code_challenge_methods_supported;
  if (challenges && !challenges.includes('S256'))
    problems.push('The provider does not take PKCE with S256; switch it on at the provider');
  if (document.id_token_signing_alg_values_supported?.length === 0)
    problems.push('The provider signs ID tokens with no key of its own; have it use RS256 or ES256');
  const methods = document.token_endpoint_auth_methods_supported;
  if (methods && !methods.some((method) => KNOWN_METHODS.includes(method)))
    problems.push(`The provider takes none of ${KNOWN_METHODS.join(', ')}; switch one on for this client`);
  return problems;
}

function isWebAddress(text: string | undefined): boolean {
  const url = text === undefined ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
