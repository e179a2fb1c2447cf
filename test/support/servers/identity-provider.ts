/**
 * A real OpenID Connect provider on loopback, with people who sign in there without being asked, and ways to have it say
 * what it should not: every answer may be changed on its way out, and every ID token signed anew.
 */
import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration, type JWK } from 'oidc-provider';

export const CLIENT_ID = 'headgate';
export const CLIENT_SECRET = 'the-secret-of-the-client-headgate';

export type Claims = Record<string, unknown>;

export interface ProviderOptions {
  /** Headgate's own address. */
  headgate: string;
  /** Claims are told by userinfo alone, as the standard has it for the code flow. */
  userinfoOnly?: boolean;
  /** Under which browsers find it: `localhost` is another site than 127.0.0.1. */
  host?: string;
}

interface Changes {
  /** Of an ID token: claims as they would be, then as they are. Signed anew with the provider's key. */
  idToken?: (claims: Claims) => Claims;
  /** Of an ID token, instead of signing it anew with the provider's key. */
  signed?: (claims: Claims, key: SigningKey) => string;
  discovery?: (document: Claims) => Claims;
  userinfo?: (claims: Claims) => Claims;
  /** Answers itself, before the provider comes to it; true where it has. */
  before?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Waits for this before it answers. */
  hold?: (request: IncomingMessage) => Promise<void> | null;
}

export interface SigningKey {
  kid: string;
  private: KeyObject;
  jwk: JWK;
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT with whatever header and claims. */
export function jwt(header: Claims, claims: Claims, signature: (text: string) => string): string {
  const text = `${base64url(header)}.${base64url(claims)}`;
  return `${text}.${signature(text)}`;
}
export const rs256 = (claims: Claims, key: SigningKey, kid: string | undefined = key.kid): string =>
  jwt({ alg: 'RS256', ...(kid ? { kid } : {}) }, claims, (text) =>
    sign('sha256', Buffer.from(text), key.private).toString('base64url'),
  );
export const hs256 = (claims: Claims, secret: string | Buffer, kid: string): string =>
  jwt({ alg: 'HS256', kid }, claims, (text) => createHmac('sha256', secret).update(text).digest('base64url'));
export const unsigned = (claims: Claims): string => jwt({ alg: 'none' }, claims, () => '');

export function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = randomUUID();
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' } as JWK;
  return { kid, private: createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })), jwk };
}

export interface TestIdentityProvider {
  issuer: string;
  /** By subject. */
  people: Map<string, Claims>;
  /** Who is signed in at the provider's; null shows a form. */
  person: string | null;
  changes: Changes;
  /** Refresh tokens for the session at the provider too, as Keycloak gives them. */
  givesRefreshTokens: boolean;
  key: SigningKey;
  /** Of the client `by-key`. */
  clientKey: SigningKey;
  /** `GET /path`, oldest first, without what follows a question mark. */
  asked: string[];
  /** New keys; the old ones are not published any more. */
  rotate(): void;
  /** Nobody answers any more. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

export async function startIdentityProvider(options: ProviderOptions): Promise<TestIdentityProvider> {
  let provider: Provider;
  let callback: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const server = createServer((request, response) => {
    made.asked.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (made.changes.before?.(request, response)) return;
    const held = made.changes.hold?.(request);
    if (held) void held.then(() => answer(request, response));
    else answer(request, response);
  });
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    // Unlike this one, they give offline access without consent.
    if (request.url?.startsWith('/auth?') && request.url.includes('offline_access'))
      request.url += '&prompt=consent';
    if (request.url?.startsWith('/interaction/')) void interact(request, response);
    else callback(request, response);
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params } = await provider.interactionDetails(request, response);
    const given = new URL(request.url ?? '', made.issuer).searchParams.get('login');
    const accountId = made.person ?? given;
    if (prompt.name === 'consent')
      return provider.interactionFinished(
        request,
        response,
        { consent: {} },
        { mergeWithLastSubmission: true },
      );
    if (prompt.name !== 'login' || accountId === null) {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><title>Provider</title><h1>Sign in to ${String(params.client_id)}</h1><form><label>Login <input name=login></label><button>Continue</button></form>`,
      );
      return;
    }
    await provider.interactionFinished(request, response, { login: { accountId } });
  }

  function make(): void {
    provider = new Provider(made.issuer, configurationOf(made, options));
    provider.on('server_error', (_, error) => console.error(error));
    provider.use(async (ctx, next) => {
      await next();
      const { changes, key } = made;
      const body = ctx.body as Claims | undefined;
      if (ctx.path === '/.well-known/openid-configuration' && changes.discovery)
        ctx.body = changes.discovery(body ?? {});
      if (ctx.path === '/me' && changes.userinfo && ctx.status === 200)
        ctx.body = changes.userinfo(body ?? {});
      if (ctx.path !== '/token' || typeof body?.id_token !== 'string') return;
      const claims: Claims = JSON.parse(
        Buffer.from(body.id_token.split('.')[1] ?? '', 'base64url').toString('utf8'),
      );
      const changed = changes.idToken?.(claims) ?? claims;
      if (changes.signed) body.id_token = changes.signed(changed, key);
      else if (changes.idToken) body.id_token = rs256(changed, key);
    });
    callback = provider.callback();
  }

  const made: TestIdentityProvider = {
    issuer: `http://${options.host ?? '127.0.0.1'}:${port}`,
    people: new Map(),
    person: null,
    changes: {},
    givesRefreshTokens: false,
    key: newKey(),
    clientKey: newKey(),
    asked: [],
    rotate() {
      made.key = newKey();
      make();
    },
    down: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
    up: () => listen(port),
    stop: () => (server.listening ? made.down() : Promise.resolve()),
  };
  make();
  return made;
}

const publicOf = ({ jwk: { kty, n, e, kid, alg } }: SigningKey) =>
  ({ kty, n, e, kid, alg, use: 'sig' }) as JWK;

function configurationOf(made: TestIdentityProvider, options: ProviderOptions): Configuration {
  const client = {
    // The test posts its logout tokens itself; this has the provider put `sid` into ID tokens.
    ...{ backchannel_logout_uri: `${options.headgate}/api/auth/oidc/backchannel-logout` },
    ...{ backchannel_logout_session_required: true },
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [`${options.headgate}/api/auth/oidc/callback`],
    post_logout_redirect_uris: [`${options.headgate}/sign-in`],
  };
  return {
    clients: [
      { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, ...client },
      {
        client_id: 'by-post',
        client_secret: CLIENT_SECRET,
        token_endpoint_auth_method: 'client_secret_post',
        ...client,
      },
      { client_id: 'public', token_endpoint_auth_method: 'none', ...client },
      {
        ...{ client_id: 'by-key', token_endpoint_auth_method: 'private_key_jwt', ...client },
        jwks: { keys: [publicOf(made.clientKey)] },
      },
      { client_id: 'another', client_secret: CLIENT_SECRET, ...client },
    ],
    jwks: { keys: [made.key.jwk] },
    cookies: { keys: ['a key for the cookies of the test'] },
    pkce: { required: () => true },
    conformIdTokenClaims: options.userinfoOnly ?? false,
    scopes: ['openid', 'offline_access', 'profile', 'email', 'groups'],
    // It calls nobody on loopback by itself.
    fetch: (url, { dispatcher: _, ...init }: RequestInit & { dispatcher?: unknown } = {}) => fetch(url, init),
    // As Keycloak, Okta and Entra ID do: for whoever asks for it, without another question.
    issueRefreshToken: async (_, of, code) =>
      of.grantTypeAllowed('refresh_token') && (code.scopes.has('offline_access') || made.givesRefreshTokens),
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
      groups: ['groups', 'realm_access', '_claim_names'],
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true },
      backchannelLogout: { enabled: true },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    // Nobody is asked whether Headgate may know them.
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({
        accountId: ctx.oidc.session?.accountId ?? '',
        clientId: ctx.oidc.client?.clientId ?? '',
      });
      grant.addOIDCScope('openid profile email groups offline_access');
      await grant.save();
      return grant;
    },
    async findAccount(_, sub) {
      const claims = made.people.get(sub);
      if (!claims) return undefined;
      return { accountId: sub, claims: async () => ({ ...claims, sub }) };
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
      Grant: 600,
      RefreshToken: 600,
    },
    renderError(ctx, out) {
      ctx.type = 'text/plain';
      ctx.body = JSON.stringify(out);
    },
  };
}
