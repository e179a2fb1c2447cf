/**
 * Whether a call comes from the forge: signed as its maker describes, over the body byte for byte, and compared in a time
 * that tells nothing. GitHub: X-Hub-Signature-256; Gitea and Forgejo: X-Gitea-Signature, X-Forgejo-Signature; Bitbucket:
 * X-Hub-Signature; all of them HMAC-SHA256 in hexadecimal. GitLab sends the secret itself in X-Gitlab-Token.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { KnownForge } from './forge-address.ts';

export interface WebhookCall {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const SIGNATURES: Readonly<Record<Exclude<KnownForge, 'gitlab'>, readonly string[]>> = {
  github: ['x-hub-signature-256'],
  gitea: ['x-forgejo-signature', 'x-gitea-signature'],
  bitbucket: ['x-hub-signature'],
};

export function isSigned(forge: KnownForge, secret: string, { headers, body }: WebhookCall): boolean {
  if (forge === 'gitlab') return isSame(textOf(headers, 'x-gitlab-token') ?? '', secret);
  const name = SIGNATURES[forge].find((one) => headers[one] !== undefined);
  if (name === undefined) return false;
  const wanted = createHmac('sha256', secret).update(body).digest('hex');
  const given = (textOf(headers, name) ?? '').toLowerCase();
  return isSame(forge === 'gitea' ? given : given.replace(/^sha256=/, ''), wanted);
}

/** Digests are of one length, so the length of the secret shows as little as its content. */
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

function textOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

const PLAIN_ID = /^[\w:.{}-]{1,128}$/;

/** What tells a delivery from the next one: the forge's id of it, or its content. */
export function deliveryIdOf(forge: KnownForge, { headers, body }: WebhookCall): string {
  const content = () => createHash('sha256').update(body).digest('hex');
  const given = givenId(forge, headers, content);
  if (given === null) return content();
  return PLAIN_ID.test(given) ? given : createHash('sha256').update(given).digest('hex');
}

function givenId(forge: KnownForge, headers: IncomingHttpHeaders, content: () => string): string | null {
  switch (forge) {
    case 'github':
      return textOf(headers, 'x-github-delivery');
    case 'gitea':
      return textOf(headers, 'x-forgejo-delivery') ?? textOf(headers, 'x-gitea-delivery');
    case 'bitbucket':
      return textOf(headers, 'x-request-uuid');
    case 'gitlab': {
      const key = textOf(headers, 'idempotency-key');
      if (key) return key;
      // Several calls may come of one event, and share its id.
      const event = textOf(headers, 'x-gitlab-event-uuid') ?? textOf(headers, 'x-gitlab-webhook-uuid');
      return event && `${event}:${content()}`;
    }
  }
}
