/** Tests a provider and the client for the super admin who configures them. */
import {
  authorizationCodeGrant,
  ClientError,
  ResponseBodyError,
  randomPKCECodeVerifier,
  type ServerMetadata,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { OidcTest, ProviderOptions } from '../../../../schemas/api/identity/identity-providers.ts';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { discover } from './discovery.ts';
import { createClient } from './provider.ts';
import { REFUSES_CLIENT, toProviderError } from './provider-request.ts';
import type { OidcProvider } from './provider-store.ts';
import { warningsOf } from './provider-warnings.ts';

const TEST_MS = 10_000;

export interface TestSubject {
  issuer: string;
  options: ProviderOptions;
  /** Null where the client is not tested. */
  client: (Pick<OidcProvider, 'clientId' | 'tokenEndpointAuthMethod'> & { secret: string | null }) | null;
  redirectUri: string;
}

export async function testProvider(outgoing: Outgoing, subject: TestSubject): Promise<OidcTest> {
  const { issuer, options } = subject;
  const found = await discover(outgoing, { issuer, caCertificate: options.caCertificate }).catch(
    (error: unknown) => ({ document: null, problems: [messageOf(error)] }),
  );
  const { document } = found;
  const problems = [...found.problems];
  let clientAccepted: boolean | null = null;
  if (document && problems.length === 0 && subject.client !== null) {
    const answer = await testClient(outgoing, document, subject, subject.client);
    clientAccepted = answer.accepted;
    if (answer.problem !== null) problems.push(answer.problem);
  }
  return {
    ok: problems.length === 0,
    issuer: document?.issuer ?? null,
    authorizationEndpoint: document?.authorization_endpoint ?? null,
    tokenEndpoint: document?.token_endpoint ?? null,
    jwksUri: document?.jwks_uri ?? null,
    endSessionEndpoint: document?.end_session_endpoint ?? null,
    scopes: document?.scopes_supported ?? [],
    claims: document?.claims_supported ?? [],
    problems,
    warnings: document ? warningsOf(document, options) : [],
    clientAccepted,
  };
}

/**
 * Sends an invalid code. A provider that accepts the client answers `invalid_grant`, otherwise `invalid_client` or
 * `unauthorized_client` (RFC 6749, 5.2).
 */
async function testClient(
  outgoing: Outgoing,
  document: ServerMetadata,
  { options, redirectUri }: TestSubject,
  { secret, ...client }: NonNullable<TestSubject['client']>,
): Promise<{ accepted: boolean | null; problem: string | null }> {
  try {
    const signal = AbortSignal.timeout(TEST_MS);
    const configuration = await createClient({ outgoing, signal }, { ...client, options, document, secret });
    const callback = new URL(redirectUri);
    callback.searchParams.set('code', 'made-up-by-headgate-to-try-the-client');
    callback.searchParams.set('iss', document.issuer);
    await authorizationCodeGrant(configuration, callback, { pkceCodeVerifier: randomPKCECodeVerifier() });
    return { accepted: null, problem: 'The provider accepts a code that it never issued: do not use it' };
  } catch (error) {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant')
      return { accepted: true, problem: null };
    const reason = toProviderError(error, 'it asks for other credentials').message;
    const refused =
      error instanceof WWWAuthenticateChallengeError ||
      (error instanceof ResponseBodyError && REFUSES_CLIENT.test(error.error));
    if (refused)
      return {
        accepted: false,
        problem: `${reason.replace(/^t/, 'T')}. Compare client id, secret and client authentication with the settings of this client there`,
      };
    if (error instanceof ResponseBodyError || error instanceof ClientError)
      return { accepted: null, problem: null };
    return { accepted: null, problem: `The client could not be tested: ${reason}` };
  }
}
