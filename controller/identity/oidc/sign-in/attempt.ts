/** A sign-in under way: the sealed state that the browser carries to the provider and back, so that nobody can forge or read it. */
import { hash } from 'node:crypto';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import type { Context } from '../../../platform/operation/context.ts';
import type { OidcProvider } from '../provider/provider-store.ts';

export const ATTEMPT_MS = 10 * 60_000;
const CONTEXT = 'oidc-attempt';
/** Browsers limit a cookie to 4,096 bytes, and the path takes most of it. */
const SEALED_LENGTH = 4_000;
const NEXT_LENGTH = 1_500;

export interface Attempt {
  state: string;
  nonce: string;
  /** PKCE, RFC 7636. */
  verifier: string;
  /** A checked path of our own pages. */
  next: string;
  providerId: string;
  /** The hash of the issuer and the client at the start. */
  client: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** The user who links their account; null for a sign-in. */
  link: { userId: string; sessionId: string } | null;
  /** Whether `offline_access` was requested. */
  offline: boolean;
}

export function newAttempt(
  ctx: Pick<Context, 'clock'>,
  provider: OidcProvider,
  { next, link, offline }: Pick<Attempt, 'next' | 'link' | 'offline'>,
): Attempt {
  return {
    ...{ state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() },
    ...{ next, link, offline, providerId: provider.id, client: clientHash(provider) },
    expiresAt: ctx.clock.now() + ATTEMPT_MS,
  };
}

export const sealAttempt = ({ services }: Pick<Context, 'services'>, attempt: Attempt): string =>
  services.keyring.seal(JSON.stringify(attempt), CONTEXT);

/** Null for a value that is not ours or has expired. */
export function openAttempt(
  { services, clock }: Pick<Context, 'services' | 'clock'>,
  sealed: string | undefined,
): Attempt | null {
  if (!sealed || sealed.length > SEALED_LENGTH) return null;
  try {
    const attempt = JSON.parse(services.keyring.open(sealed, CONTEXT)) as Attempt;
    return attempt.expiresAt > clock.now() ? attempt : null;
  } catch {
    return null;
  }
}

/** An attempt cannot be finished at a provider whose issuer or client has changed. */
export const clientHash = ({ issuer, clientId }: Pick<OidcProvider, 'issuer' | 'clientId'>): string =>
  hash('sha256', JSON.stringify([issuer, clientId]), 'base64url');

export const stateHash = ({ state }: Attempt): Buffer => Buffer.from(hash('sha256', state, 'hex'), 'hex');

/** A path of our own pages, or `/` for any other input: the browser must not be sent to another site or to an API. */
export function ownPath(given: unknown, baseUrl: string): string {
  if (typeof given !== 'string' || !given.startsWith('/')) return '/';
  const url = URL.parse(given, baseUrl);
  if (!url || url.origin !== new URL(baseUrl).origin) return '/';
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `//host` and `/\host` are other sites.
  if (path.length > NEXT_LENGTH || /^\/[/\\]/.test(path) || /^\/(api|git)(\/|$)/.test(path)) return '/';
  return path;
}
