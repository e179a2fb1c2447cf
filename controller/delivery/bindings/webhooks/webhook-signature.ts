/**
 * Whether a call comes from the forge. The signature covers the bytes of the body and is compared in constant time. GitHub:
 * X-Hub-Signature-256; Gitea and Forgejo: X-Gitea-Signature, X-Forgejo-Signature; Bitbucket, Cloud and Data Center:
 * X-Hub-Signature; all of them HMAC-SHA256 in hexadecimal. Azure DevOps does not sign: it sends the secret as the password of
 * basic authentication. GitLab sends the secret itself in X-Gitlab-Token, or signs with its signing token as Standard Webhooks
 * define it (https://www.standardwebhooks.com).
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { KnownForge } from '../forge/forge-address.ts';

/** Takes the body piece by piece, so that it is never held as a whole. */
export interface Verifier {
  update(piece: Buffer): void;
  /** Call it once, at the end of the body. */
  isSigned(): boolean;
}

const SIGNATURES: Readonly<Record<Exclude<KnownForge, 'gitlab' | 'azure-devops'>, readonly string[]>> = {
  github: ['x-hub-signature-256'],
  gitea: ['x-forgejo-signature', 'x-gitea-signature'],
  bitbucket: ['x-hub-signature'],
  'bitbucket-data-center': ['x-hub-signature'],
};

const NEVER: Verifier = { update: () => {}, isSigned: () => false };

/** @param now in milliseconds */
export function verifierOf(
  forge: KnownForge,
  secret: string,
  { headers, now }: { headers: IncomingHttpHeaders; now: number },
): Verifier {
  if (forge === 'gitlab') {
    // GitLab may be set to send either; the form of our secret shows which.
    if (secret.startsWith(SIGNING_TOKEN)) return standardVerifier(secret, headers, now);
    const same = isSame(textOf(headers, 'x-gitlab-token') ?? '', secret);
    return { update: () => {}, isSigned: () => same };
  }
  if (forge === 'azure-devops') {
    const [, given = ''] =
      /^Basic +([A-Za-z0-9+/=]{1,4096})$/i.exec(textOf(headers, 'authorization') ?? '') ?? [];
    const password = Buffer.from(given, 'base64')
      .toString('utf8')
      .replace(/^[^:]*:/, '');
    const same = isSame(password, secret);
    return { update: () => {}, isSigned: () => same };
  }
  const name = SIGNATURES[forge].find((header) => headers[header] !== undefined);
  if (name === undefined) return NEVER;
  const given = (textOf(headers, name) ?? '').toLowerCase();
  const wanted = createHmac('sha256', secret);
  return {
    update: (piece) => void wanted.update(piece),
    isSigned: () => isSame(forge === 'gitea' ? given : given.replace(/^sha256=/, ''), wanted.digest('hex')),
  };
}

const SIGNING_TOKEN = 'whsec_';
/** Older and newer calls are refused: Standard Webhooks, "Verifying webhook authenticity". */
const TOLERANCE_SECONDS = 5 * 60;

function standardVerifier(secret: string, headers: IncomingHttpHeaders, now: number): Verifier {
  const [id, at, given] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    textOf(headers, name),
  );
  const isNow = /^\d{1,12}$/.test(at ?? '') && Math.abs(Number(at) - now / 1_000) <= TOLERANCE_SECONDS;
  if (!id || !at || !given || !isNow) return NEVER;
  const key = Buffer.from(secret.slice(SIGNING_TOKEN.length), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${at}.`);
  return {
    update: (piece) => void wanted.update(piece),
    isSigned() {
      const digest = wanted.digest('base64');
      // Several signatures come while a key is being replaced.
      return given
        .split(' ')
        .slice(0, 10)
        .some((text) => isSame(text, `v1,${digest}`));
    },
  };
}

/** Compares digests: they have one length, so neither the length nor the content of the secret leaks. */
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

function textOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

const PLAIN_ID = /^[\w:.{}-]{1,128}$/;

/** Identifies a delivery: the forge's id for it, or the SHA-256 of its content in hexadecimal. */
export function deliveryIdOf(forge: KnownForge, headers: IncomingHttpHeaders, content: string): string {
  const given = givenId(forge, headers, content);
  if (given === null) return content;
  return PLAIN_ID.test(given) ? given : createHash('sha256').update(given).digest('hex');
}

function givenId(forge: KnownForge, headers: IncomingHttpHeaders, content: string): string | null {
  switch (forge) {
    case 'github':
      return textOf(headers, 'x-github-delivery');
    case 'gitea':
      return textOf(headers, 'x-forgejo-delivery') ?? textOf(headers, 'x-gitea-delivery');
    case 'bitbucket':
      return textOf(headers, 'x-request-uuid');
    case 'bitbucket-data-center':
      return textOf(headers, 'x-request-id');
    // Azure DevOps numbers its notifications in the body.
    case 'azure-devops':
      return null;
    case 'gitlab': {
      const key = textOf(headers, 'idempotency-key') ?? textOf(headers, 'webhook-id');
      if (key) return key;
      // Several calls may come from one event and share its id.
      const event = textOf(headers, 'x-gitlab-event-uuid') ?? textOf(headers, 'x-gitlab-webhook-uuid');
      return event && `${event}:${content}`;
    }
  }
}
