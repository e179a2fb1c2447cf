/** What a provider and a client of it would make of a sign-in, for whoever sets them up. */
import {
  authorizationCodeGrant,
  ClientError,
  ResponseBodyError,
  randomPKCECodeVerifier,
  type ServerMetadata,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { OidcTest, ProviderOptions } from '../../../../schemas/api/identity-providers.ts';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { discover } from '../provider/discovery.ts';
import { makeClient } from '../provider/provider.ts';
import { explained, REFUSES_CLIENT } from '../provider/provider-request.ts';
import type { OidcProvider } from '../provider/provider-store.ts';
import { warningsOf } from '../provider/provider-warnings.ts';

const TRY_MS = 10_000;

export interface Tried {
  issuer: string;
  options: ProviderOptions;
  /** Null where the client is not tried. */
  client: (Pick<OidcProvider, 'clientId' | 'tokenEndpointAuthMethod'> & { secret: string | null }) | null;
  redirectUri: string;
}

export async function tryOut(outgoing: Outgoing, tried: Tried): Promise<OidcTest> {
  const { issuer, options } = tried;
  const found = await discover(outgoing, { issuer, caCertificate: options.caCertificate }).catch(
    (error: unknown) => ({ document: null, problems: [messageOf(error)] }),
  );
  const { document } = found;
  const problems = [...found.problems];
  let clientAccepted: boolean | null = null;
  if (document && problems.length === 0 && tried.client !== null) {
    const answer = await tryClient(outgoing, document, tried, tried.client);
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
 * A code that is none: whoever takes the client says `invalid_grant`, whoever does not `invalid_client` or
 * `unauthorized_client` (RFC 6749, 5.2).
 */
async function tryClient(
  outgoing: Outgoing,
  document: ServerMetadata,
  { options, redirectUri }: Tried,
  { secret, ...client }: NonNullable<Tried['client']>,
): Promise<{ accepted: boolean | null; problem: string | null }> {
  try {
    const signal = AbortSignal.timeout(TRY_MS);
    const asking = await makeClient({ outgoing, signal }, { ...client, options, document, secret });
    const came = new URL(redirectUri);
    came.searchParams.set('code', 'made-up-by-headgate-to-try-the-client');
    came.searchParams.set('iss', document.issuer);
    await authorizationCodeGrant(asking, came, { pkceCodeVerifier: randomPKCECodeVerifier() });
    return { accepted: null, problem: 'The provider takes a code that it has never given: do not use it' };
  } catch (error) {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant')
      return { accepted: true, problem: null };
    const reason = explained(error, 'it asks for other credentials').message;
    const refused =
      error instanceof WWWAuthenticateChallengeError ||
      (error instanceof ResponseBodyError && REFUSES_CLIENT.test(error.error));
    if (refused)
      return {
        accepted: false,
        problem: `${reason.replace(/^t/, 'T')}. Compare client id, secret and client authentication with what it shows of this client`,
      };
    if (error instanceof ResponseBodyError || error instanceof ClientError)
      return { accepted: null, problem: null };
    return { accepted: null, problem: `The client could not be tried: ${reason}` };
  }
}
