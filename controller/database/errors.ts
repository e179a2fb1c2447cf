/** What went wrong in the database, by Postgres' own codes and those of the connection to it. */
import { DomainError } from '../platform/operation/errors.ts';

interface PgError {
  code?: string;
  constraint?: string;
  detail?: string;
}

/** Which constraint a statement broke. */
export function brokeUnique(error: unknown, constraint?: string): boolean {
  const { code, constraint: broken } = error as PgError;
  return code === '23505' && (constraint === undefined || broken === constraint);
}

/** One of two transactions that wait for each other; PostgreSQL has rolled it back. */
export const isDeadlock = (error: unknown): boolean => (error as PgError).code === DEADLOCK;

const RETRY_AFTER_SECONDS = 2;
const DISK_FULL = '53100';
const DEADLOCK = '40P01';
const FOREIGN_KEY = '23503';
/** A statement that was cancelled, for its pool's limit (pools.ts) or by an operator. Waiting for a lock counts. */
const CANCELED = '57014';
/** Limits that the role or the database sets: lock_timeout, idle_in_transaction_session_timeout, transaction_timeout, idle_session_timeout. */
const ROLE_LIMIT = /^(55P03|25P03|25P04|57P05)$/;
/** The connection: refused, broken, no room for another one; or the server says that it starts, ends or crashed. */
const AWAY =
  /^(08...|57P0[123]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** These have no code, or one that other faults have too; knex puts the statement before the text. */
const AWAY_TEXT =
  /(?:^| - )(Connection terminated|Connection ended unexpectedly|Client has encountered a connection error|timeout expired|Unable to acquire a connection|Knex: Timeout acquiring a connection|database "[^"]*" is not currently accepting connections)/;

/**
 * UNAVAILABLE for an error that says that the database cannot be used at the moment or took too long, NOT_FOUND for one that says that what a
 * new row belongs to was deleted just now; any other error as it is.
 */
export function unlessAway(error: unknown): unknown {
  if (error instanceof DomainError || !(error instanceof Error)) return error;
  // A client that went away while it sent its request.
  if (error.message === 'aborted') return error;
  const { code = '', detail = '' } = error as PgError;
  if (code === DISK_FULL) {
    return away('The disk of the database is full. Free some space there and try again');
  }
  if (code === CANCELED) {
    return new DomainError(
      'UNAVAILABLE',
      'The database took too long for this and it was stopped; it may have waited for another change. Try again in a few seconds, and narrow a search, with a shorter time or a closer filter. Where every request is stopped, a statement_timeout of the database or its role is too short',
      { tookTooLong: true, retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }
  if (ROLE_LIMIT.test(code)) {
    return away(
      "The database ended this by a limit that is set for Headgate's role or database, such as lock_timeout or idle_in_transaction_session_timeout. Try again; an administrator of the database can lift it: ALTER ROLE … RESET ALL",
    );
  }
  if (code === DEADLOCK) {
    return away('Two changes waited for each other, and this one was given up. Try again');
  }
  if (code === FOREIGN_KEY && detail.includes('is not present')) {
    return new DomainError('NOT_FOUND', 'What this belongs to was deleted in the meantime; look again');
  }
  if (isConnectionLost(error)) {
    return away('The database does not answer at the moment. Try again in a few seconds');
  }
  return error;
}

/** Whether there is no connection, or none any more: of a commit it is not known then whether it was done. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DomainError || !(error instanceof Error) || error.message === 'aborted') return false;
  return AWAY.test(String((error as PgError).code ?? '')) || AWAY_TEXT.test(error.message);
}

function away(message: string): DomainError {
  return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
