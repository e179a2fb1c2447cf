/** A sign-in on its way: what the browser carries to the provider and back, sealed, so that nobody else can make or read it. */
import { hash } from 'node:crypto';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import type { Context } from '../../../platform/operation/context.ts';
import type { OidcProvider } from '../provider/provider-store.ts';

export const ATTEMPT_MS = 10 * 60_000;
const PLACE = 'oidc-attempt';
/** Browsers keep no cookie of more than 4,096 bytes, and a path takes most of it. */
const SEALED_LENGTH = 4_000;
const NEXT_LENGTH = 1_500;

export interface Attempt {
  state: string;
  nonce: string;
  /** Of PKCE, RFC 7636. */
  verifier: string;
  /** An own path, checked. */
  next: string;
  providerId: string;
  /** A hash of the issuer and the client that it was begun with. */
  client: string;
  /** Milliseconds. */
  expiresAt: number;
  /** Who links the provider's account to their own; null where somebody signs in. */
  link: { userId: string; sessionId: string } | null;
  /** Whether `offline_access` was asked for. */
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
  services.keyring.seal(JSON.stringify(attempt), PLACE);

/** Null for what is none of ours, or too old. */
export function openAttempt(
  { services, clock }: Pick<Context, 'services' | 'clock'>,
  sealed: string | undefined,
): Attempt | null {
  if (!sealed || sealed.length > SEALED_LENGTH) return null;
  try {
    const attempt = JSON.parse(services.keyring.open(sealed, PLACE)) as Attempt;
    return attempt.expiresAt > clock.now() ? attempt : null;
  } catch {
    return null;
  }
}

/** Another issuer or client is another provider: nothing that was begun at one ends at the other. */
export const clientHash = ({ issuer, clientId }: Pick<OidcProvider, 'issuer' | 'clientId'>): string =>
  hash('sha256', JSON.stringify([issuer, clientId]), 'base64url');

export const stateHash = ({ state }: Attempt): Buffer => Buffer.from(hash('sha256', state, 'hex'), 'hex');

/** A path of our own pages, whatever was given: a browser must not be sent to another site, nor to what answers no page. */
export function ownPath(given: unknown, baseUrl: string): string {
  if (typeof given !== 'string' || !given.startsWith('/')) return '/';
  const url = URL.parse(given, baseUrl);
  if (!url || url.origin !== new URL(baseUrl).origin) return '/';
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `//host` and `/\host` are other sites.
  if (path.length > NEXT_LENGTH || /^\/[/\\]/.test(path) || /^\/(api|git)(\/|$)/.test(path)) return '/';
  return path;
}
