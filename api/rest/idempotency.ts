/**
 * Safe to retry: a change with an `Idempotency-Key` is done once, however often it is sent. Its answer is stored in the
 * transaction of its work, so that a controller which dies leaves either both or neither.
 */
import { createHmac } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { Knex } from 'knex';
import { badRequest, conflict, DomainError, messageOf } from '../../controller/platform/operation/errors.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import type { ErrorResponse } from '../middleware/request.ts';
import { type Claimed, claimRequest, giveUp, type KnownRequest, storeResponse } from './idempotency-store.ts';
import { RestError } from './rest-error.ts';

const FORM = /^[\x21-\x7e]{1,255}$/;
const RETRY_AFTER_SECONDS = 1;
const TOO_MANY = 429;

export interface StoredResponse {
  status: number;
  /** JSON. */
  body: string;
}

/** Null for a request without the header. */
export function idempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!FORM.test(header)) throw badRequest('Idempotency-Key must be 1 to 255 visible ASCII characters');
  return header;
}

/**
 * Tells one request from another. Keyed with the caller's own key, which is stored nowhere: the body may hold a secret
 * that could be guessed from a plain hash.
 */
const requestHash = (
  apiKey: string,
  request: { method: string; path: string; query?: string; body: unknown },
): string => createHmac('sha256', apiKey).update(stringify(request)).digest('hex');

/**
 * Runs `work` unless the key was used before, and then answers what was answered then. `work` hands its answer to `settle`
 * inside its transaction.
 * @throws 422 where the key came with another request, 409 while the first one is at work
 */
export async function onlyOnce(
  options: {
    db: Knex;
    log: Logger;
    serviceAccountId: string;
    apiKey: string;
    key: string;
    request: { method: string; path: string; query?: string; body: unknown };
    refusal: (error: DomainError) => ErrorResponse;
  },
  work: (settle: (tx: Knex, answer: StoredResponse) => Promise<void>) => Promise<StoredResponse>,
): Promise<{ answer: StoredResponse; replayed: boolean }> {
  const { db, log, serviceAccountId, apiKey, key } = options;
  const known = await claimRequest(db, { serviceAccountId, key }, requestHash(apiKey, options.request));
  if (known.kind !== 'mine') return { answer: answerBefore(known), replayed: true };
  const { claimed } = known;
  let isStored = false;
  try {
    const answer = await work(async (tx, settled) => {
      if (!(await storeResponse(tx, claimed, settled)))
        throw conflict('This took too long and was started again; repeat the request to get its result');
      isStored = true;
    });
    // What changes nothing has no transaction in which it could be stored.
    if (!isStored) await storeResponse(db, claimed, answer);
    return { answer, replayed: false };
  } catch (error) {
    const refusal = error instanceof DomainError ? options.refusal(error) : null;
    await remember(db, claimed, refusal).catch((fault: unknown) =>
      log.warn({ reason: messageOf(fault) }, 'the answer to an idempotent request was not stored'),
    );
    throw error;
  }
}

function answerBefore(known: Exclude<KnownRequest, { kind: 'mine' }>): StoredResponse {
  switch (known.kind) {
    case 'answered':
      return known;
    case 'other':
      throw new RestError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key came with another request before; use a new one',
      );
    case 'busy':
      throw new DomainError('CONFLICT', 'The first request with this Idempotency-Key is still at work', {
        code: 'REQUEST_IN_PROGRESS',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  }
}

/** A refusal is an answer; a fault of the server, or "too many at once", is none, and the same may be tried again. */
async function remember(db: Knex, claimed: Claimed, refusal: ErrorResponse | null): Promise<void> {
  if (refusal === null || refusal.status >= 500 || refusal.status === TOO_MANY) return giveUp(db, claimed);
  await storeResponse(db, claimed, { status: refusal.status, body: JSON.stringify(refusal.body) });
}
