/** A controller and a provider that it trusts, and somebody at a browser in front of both. */
import { startTestController, type TestController } from '../harness/controller.ts';
import type { TestDb } from '../harness/test-db.ts';
import { use } from '../harness/use.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type ProviderOptions,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../servers/identity-provider.ts';
import type { TestUser } from '../users/person.ts';
import { Walker } from '../users/walk.ts';

export const CALLBACK = '/api/auth/oidc/callback';
export const SESSION = 'headgate.session-token';
/** What the name of each attempt's cookie begins with. */
export const ATTEMPT = 'headgate.oidc-sign-in.';

export interface SingleSignOn {
  test: TestController;
  provider: TestIdentityProvider;
  db: TestDb;
  root: TestUser;
  /** What `settings.updateOidc` was given. */
  client: { issuer: string; clientId: string; clientSecret: string; displayName: string };
  /** Somebody new at the provider; answers their subject. */
  somebody(claims?: Record<string, unknown>): string;
  /** Signs in as them, in a browser of their own unless one is given. Answers where they end. */
  signIn(subject: string, how?: { walker?: Walker; path?: string }): Promise<SignedIn>;
  /** Up to the callback, which is not asked. */
  comeBack(subject: string, walker?: Walker): Promise<{ walker: Walker; callback: string }>;
  stop(): Promise<void>;
}

export interface SignedIn {
  walker: Walker;
  /** Path and query of the page. */
  page: string;
  /** Null where nobody is signed in. */
  user: { id: string; name: string; email: string; owes: string | null } | null;
}

export async function startSingleSignOn(
  options: Omit<ProviderOptions, 'headgate'> = {},
): Promise<SingleSignOn> {
  const test = await startTestController({
    privateTargets: ['127.0.0.0/8'],
    trustedProxies: ['127.0.0.1'],
  });
  const provider = await startIdentityProvider({ headgate: test.url, ...options });
  const root = await test.root();
  const client = {
    ...{ issuer: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
    displayName: 'Example ID',
  };
  await root.mutate('settings.updateOidc', client);
  let people = 0;
  // Each from an address of its own, so that the limit of an address stays out of it.
  const newWalker = () => new Walker({ 'x-forwarded-for': `10.1.${people >> 8}.${people & 255}` });

  return {
    test,
    provider,
    root,
    client,
    db: test.db,
    somebody(claims = {}) {
      const subject = `subject-${++people}`;
      provider.people.set(subject, {
        ...{ email: `person-${people}@example.org`, email_verified: true, name: `Person ${people}` },
        ...claims,
      });
      return subject;
    },
    async signIn(subject, { walker = newWalker(), path = '/api/auth/oidc/login' } = {}) {
      provider.person = subject;
      // The provider remembers nobody in this browser.
      walker.dropCookies('_');
      const { url } = await walker.walk(`${test.url}${path}`, {
        stop: (at) => at.startsWith(test.url) && !at.startsWith(`${test.url}/api/`),
        headers: { 'sec-fetch-site': 'same-origin' },
      });
      return { walker, page: url.slice(test.url.length), user: await userOf(test.url, walker) };
    },
    async comeBack(subject, walker = newWalker()) {
      provider.person = subject;
      const { url } = await walker.walk(`${test.url}/api/auth/oidc/login`, {
        stop: (at) => at.startsWith(`${test.url}${CALLBACK}`),
      });
      return { walker, callback: url };
    },
    async stop() {
      await provider.stop();
      await test.stop();
    },
  };
}

export async function userOf(url: string, walker: Walker): Promise<SignedIn['user']> {
  const answer = await walker.get(`${url}/api/auth/session`);
  return answer.status === 200 ? answer.json<{ user: NonNullable<SignedIn['user']> }>().user : null;
}

/** One for all cases of a suite. After each case its provider answers correctly again. */
export function useSingleSignOn(options?: Omit<ProviderOptions, 'headgate'>): SingleSignOn {
  const scene = use(
    () => startSingleSignOn(options),
    (started) => started.stop(),
  );
  afterEach(() => {
    scene.provider.changes = {};
  });
  return scene;
}
