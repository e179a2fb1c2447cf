/**
 * What an answer that is no good means, and when to come again. How often one may ask: RFC 9110 (Retry-After), GitHub
 * (x-ratelimit-remaining, x-ratelimit-reset, also with status 403), GitLab (RateLimit-Reset).
 */

import { isUntrusted, type TargetGuard } from '../../../controller/platform/net/outgoing/index.ts';
import { messageOf } from '../../../controller/platform/operation/errors.ts';
import { ForgeError, ForgeReply } from '../forge.ts';
import { denialOf } from './denials.ts';

const LONGEST_WAIT_MS = 60 * 60_000;
const SAID_LENGTH = 200;

/** One that may be over in a moment. */
class Passing extends ForgeError {
  readonly passing = true;
}
export type Failure = ForgeError & { passing?: boolean };

interface Refusal {
  label: string;
  status: number;
  headers: Headers;
  text: string;
  redact: (text: string) => string;
  now: number;
  /** Where it says "too often", and not for how long. */
  usualWaitMs: number;
}

/** Of a status of 400 and more. */
export function faultOf(refusal: Refusal): ForgeError {
  const { label, status, headers, text, now, usualWaitMs } = refusal;
  const message = messageIn(refusal);
  const because = message === '' ? '' : ` (${message})`;
  if (isTooOften(status, headers, text)) {
    const at = retryAtOf(headers, now) ?? new Date(Math.min(now + usualWaitMs, now + LONGEST_WAIT_MS));
    const time = `${at.toISOString().slice(11, 16)} UTC`;
    return new ForgeError('rate-limited', `${label} was asked too often; it is asked again at ${time}`, at);
  }
  const denial = status === 403 ? denialOf({ headers, message }) : null;
  switch (true) {
    case status === 401:
      return notTaken(label, because);
    case status === 403 && denial !== null:
      return new ForgeReply(
        denial?.fault ?? 'credentials',
        status,
        `${label} ${denial?.advice}${because}`,
        message,
      );
    case status === 403:
      return new ForgeReply(
        'credentials',
        status,
        `${label} does not let the token do this${because}; give one that may write pull requests, comments and commit statuses of the project`,
        message,
      );
    case status === 410:
      return new ForgeReply(
        'not-found',
        status,
        `${label} has it no more${because}: it was deleted, or switched off there, as issues may be, which carry the comments of pull requests; switch them on, or correct forge.project`,
        message,
      );
    case status === 404:
      return new ForgeReply(
        'not-found',
        status,
        `${label} has no such project or pull request, or hides it from the token${because}; compare forge.project, and what the token may see`,
        message,
      );
    case status === 407:
      return new ForgeError(
        'unavailable',
        `The proxy to ${label} wants to know who asks; put user and password into its address`,
      );
    case status >= 500 || status === 408 || status === 425:
      return new Passing(
        'unavailable',
        `${label} answers with status ${status}${because}; it is asked again by itself`,
        // When more may be asked stands beside every answer; here it says nothing.
        retryAtOf(new Headers({ 'retry-after': headers.get('retry-after') ?? '' }), now),
      );
    default:
      return new ForgeReply(
        'refused',
        status,
        `${label} refuses with status ${status}${because || ' and no reason'}`,
        message,
      );
  }
}

export const notTaken = (label: string, because = ''): ForgeError =>
  new ForgeError(
    'credentials',
    `${label} does not take the token${because}: it is wrong, expired or revoked; make a new one and give it as forge.token`,
  );

function isTooOften(status: number, headers: Headers, text: string): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return (
    headers.get('x-ratelimit-remaining') === '0' ||
    headers.has('retry-after') ||
    /secondary rate limit|rate limit exceeded|abuse detection/i.test(text.slice(0, 4_096))
  );
}

/** At most an hour from now; null where nothing is said. */
function retryAtOf(headers: Headers, now: number): Date | null {
  const after = headers.get('retry-after');
  // GitHub tells it with every answer: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
  const isUsedUp = (headers.get('x-ratelimit-remaining') ?? '0') === '0';
  const reset = (isUsedUp ? headers.get('x-ratelimit-reset') : null) ?? headers.get('ratelimit-reset');
  const at = (after && afterOf(after, now)) || (reset && resetOf(reset, now)) || null;
  if (at === null || !Number.isFinite(at)) return null;
  return new Date(Math.min(Math.max(at, now + 1_000), now + LONGEST_WAIT_MS));
}

const afterOf = (text: string, now: number): number =>
  /^\d+$/.test(text) ? now + Number(text) * 1_000 : Date.parse(text);

/** Seconds since 1970, or from now. */
function resetOf(text: string, now: number): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return seconds < 1_000_000_000 ? now + seconds * 1_000 : seconds * 1_000;
}

/** What it gives as its reason: `message`, `error` or `errors`, each a text, a list or one level deeper. One short line. */
function messageIn({ text, redact }: Refusal): string {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return '';
  }
  const plain = [...new Set(textsIn(answer, 0))].join('; ').replaceAll(/[\s\p{Cc}]+/gu, ' ');
  const safe = redact(plain).trim();
  return safe.length > SAID_LENGTH ? `${safe.slice(0, SAID_LENGTH)}…`.toWellFormed() : safe;
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (depth > 3 || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.slice(0, 5).flatMap((one) => textsIn(one, depth + 1));
  const { message, error, errors, detail, resource, field, code } = value as Record<string, unknown>;
  const texts = [message, error, errors, detail].flatMap((one) => textsIn(one, depth + 1));
  // GitHub's validation: which field of what, and one word for why.
  const names = [resource, field, code].filter((one) => typeof one === 'string' && one !== '');
  return texts.length === 0 && names.length > 0 ? [names.join(' ')] : texts;
}

export function redirected(label: string, location: string | null, from: URL): ForgeError {
  const target = location === null ? null : URL.parse(location, from.href);
  // Of Azure DevOps: the page on which people sign in.
  if (target && /\/_signin$/.test(target.pathname)) return notTaken(label);
  const elsewhere = target === null || target.origin !== from.origin;
  return new ForgeError(
    'refused',
    elsewhere
      ? `${label} redirects to ${target?.origin ?? 'another address'}, where the token is not sent; set forge.url to where the forge itself answers`
      : `${label} says that the project is elsewhere by now; was it renamed? Set forge.project, and the address of the repository, to its new name`,
  );
}

export const notJson = (label: string, status: number): ForgeError =>
  new ForgeError(
    'unavailable',
    `${label} answers with status ${status} and something that is not JSON; is forge.url the address of its API?`,
  );

export const tooLarge = (label: string, bytes: number): ForgeError =>
  new ForgeError(
    'unavailable',
    `${label} answers with more than ${Math.floor(bytes / 1024 / 1024)} MiB, which is not read`,
  );

/** Of what was thrown on the way there. */
export function explainFailure(
  error: unknown,
  {
    label,
    redact,
    late,
    guard,
  }: { label: string; redact: (text: string) => string; late: boolean; guard: TargetGuard },
): Failure {
  if (error instanceof ForgeError) return error;
  if (late) return new ForgeError('unavailable', guard.unreachable(label, 'no answer in time'));
  const { code = '', cause } = error as { code?: string; cause?: unknown };
  if (cause instanceof ForgeError) return cause;
  const why =
    typeof (cause as { code?: unknown })?.code === 'string' ? (cause as { code: string }).code : code;
  if (isUntrusted(why))
    return new ForgeError(
      'unavailable',
      `The certificate of ${label} is not trusted (${why}); give the authority that signed it as caCertificate, and an address that stands in the certificate`,
    );
  const proxied = /Proxy response \((\d+)\)/.exec(redact(messageOf(error)))?.[1];
  if (proxied) {
    guard.note(label, `the proxy answers with status ${proxied}`);
    return new ForgeError(
      'unavailable',
      `The proxy does not let requests through to ${label}, or does not reach it either; correct the proxy settings of the controller`,
    );
  }
  return new Passing('unavailable', guard.unreachable(label, error));
}

/** The fault that a client library has wrapped; anything else is returned as it is. */
export function unwrapped(
  error: unknown,
  { label, redact }: { label: string; redact: (text: string) => string },
): ForgeError {
  if (error instanceof ForgeError) return error;
  const { cause } = error as { cause?: unknown };
  if (cause instanceof ForgeError) return cause;
  const why = redact(messageOf(error)).slice(0, SAID_LENGTH);
  return new ForgeError('unavailable', `${label} was not understood (${why})`);
}
