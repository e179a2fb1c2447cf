/**
 * Tokens of GitHub Apps: the installation is found by the repository, its token is for that repository alone, good for an
 * hour, and is renewed five minutes before its end.
 * https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
 */
import { createHash, createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import Type, { type Static } from 'typebox';
import { type GitHubApp, RepositoryError } from '../../../controller/delivery/repository/index.ts';
import type { TargetGuard } from '../../../controller/platform/net/outgoing/index.ts';
import type { ProxySettings } from '../../../controller/platform/net/proxies.ts';
import type { Logger } from '../../../controller/platform/runtime/logger.ts';
import { ForgeError, ForgeReply } from '../forge.ts';
import { isGone } from '../idempotent-writes.ts';
import { Maybe, read, Time, time } from '../response-schemas.ts';
import { createTransport, type Transport, type TransportLimits } from '../transport/transport.ts';
import { GITHUB_HEADERS } from './headers.ts';

/** GitHub takes ten minutes at most, and clocks differ. */
const JWT_SECONDS = 9 * 60;
const SKEW_SECONDS = 60;
const RENEW_BEFORE_MS = 5 * 60_000;
const UNUSED_MS = 2 * 60 * 60_000;

const Installation = Type.Object({
  id: Type.Integer(),
  app_id: Type.Integer(),
  app_slug: Type.String({ maxLength: 255 }),
  permissions: Type.Record(Type.String(), Type.String()),
  suspended_at: Maybe(Time),
});
type Installation = Static<typeof Installation>;
const Made = Type.Object({ token: Type.String({ minLength: 1, maxLength: 4_096 }), expires_at: Time });

export interface AppAccess {
  /** @throws ForgeError */
  token(): Promise<string>;
  /** It is not handed out again. */
  refused(token: string): void;
  /** Requested each time. @throws ForgeError */
  installation(): Promise<Installation>;
}

export interface AppTokens {
  of(app: GitHubApp, caCertificate: string | null): AppAccess;
  close(): Promise<void>;
}

export interface AppTokenOptions {
  guard: TargetGuard;
  proxies: ProxySettings;
  log: Logger;
  limits?: Partial<TransportLimits>;
  now?: () => number;
}

export function createAppTokens({
  guard,
  proxies,
  log,
  limits = {},
  now = Date.now,
}: AppTokenOptions): AppTokens {
  const kept = new Map<string, { usedAt: number; access: AppAccess; transport: Transport }>();

  return {
    of(app, caCertificate) {
      const key = createHash('sha256')
        .update(JSON.stringify([app.url, app.project, app.id, app.privateKey, caCertificate]))
        .digest('base64');
      const known = kept.get(key);
      if (known) {
        known.usedAt = now();
        return known.access;
      }
      for (const [other, { usedAt, transport }] of kept)
        if (now() - usedAt > UNUSED_MS) {
          kept.delete(other);
          void transport.close();
        }
      const transport = createTransport({
        ...{ base: app.url, label: `GitHub at ${new URL(app.url).host}`, token: app.privateKey },
        ...{ caCertificate, guard, proxies, log, limits, now },
      });
      const made = createAppAccess(app, transport, now);
      const entry = { usedAt: now(), transport, access: made };
      // Clients keep it for longer than they ask for it here.
      entry.access = {
        ...made,
        token() {
          entry.usedAt = now();
          return made.token();
        },
      };
      kept.set(key, entry);
      return entry.access;
    },
    async close() {
      await Promise.all([...kept.values()].map(({ transport }) => transport.destroy()));
      kept.clear();
    },
  };
}

function createAppAccess(app: GitHubApp, transport: Transport, now: () => number): AppAccess {
  const { label } = transport;
  let current: { token: string; endsAt: number } | null = null;
  let making: Promise<string> | null = null;

  async function asApp(method: string, path: string, body?: unknown): Promise<unknown> {
    const seconds = Math.floor(now() / 1_000);
    const jwt = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(app.id)
      .setIssuedAt(seconds - SKEW_SECONDS)
      .setExpirationTime(seconds + JWT_SECONDS)
      .sign(createPrivateKey(app.privateKey));
    transport.alsoRedact(jwt);
    try {
      const answer = await transport.fetch(`${app.url}${path}`, {
        method,
        headers: { ...GITHUB_HEADERS, authorization: `Bearer ${jwt}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return await answer.json();
    } catch (error) {
      // GitHub's reason (an address, a suspension) is reported verbatim.
      const isDenied = error instanceof ForgeError && error.fault === 'credentials';
      if (!isDenied || error instanceof ForgeReply) throw error;
      throw new ForgeError(
        'credentials',
        `${label} does not take the key of the app ${app.id}: it is another app's, was deleted there, or the clocks differ; look at the app's id, generate a private key and give both as forge.app`,
      );
    }
  }

  async function installation(): Promise<Installation> {
    try {
      const found = read(label, Installation, await asApp('GET', `/repos/${app.project}/installation`));
      if (!found.suspended_at) return found;
      throw new ForgeError(
        'credentials',
        `${label}: the installation of the app ${found.app_slug} is suspended; let the owner of ${app.project} unsuspend it`,
      );
    } catch (error) {
      if (!isGone(error)) throw error;
      throw new ForgeError(
        'not-found',
        `${label}: the app ${app.id} is not installed on ${app.project}; install it there, or add the repository to its installation`,
      );
    }
  }

  async function make(): Promise<string> {
    const { id } = await installation();
    const made = read(
      label,
      Made,
      await asApp('POST', `/app/installations/${id}/access_tokens`, {
        repositories: [app.project.split('/')[1]],
      }),
    );
    current = { token: made.token, endsAt: time(label, made.expires_at).getTime() };
    return made.token;
  }

  return {
    installation,
    async token() {
      if (current && current.endsAt - RENEW_BEFORE_MS > now()) return current.token;
      making ??= make().finally(() => {
        making = null;
      });
      return making;
    },
    refused(token) {
      if (current?.token === token) current = null;
    },
  };
}

/** For git, which is let in by the same tokens. */
export const gitTokens =
  (apps: AppTokens, now: () => number = Date.now) =>
  async (app: GitHubApp, caCertificate: string | null): Promise<string> => {
    try {
      return await apps.of(app, caCertificate).token();
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const { fault, retryAt, message } = error;
      if (fault === 'rate-limited')
        throw new RepositoryError('asked-to-wait', message, {
          retryAfterMs: Math.max(0, (retryAt?.getTime() ?? now()) - now()),
        });
      throw new RepositoryError(fault === 'unavailable' ? 'unreachable' : fault, message);
    }
  };
