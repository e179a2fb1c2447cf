/**
 * Slows down guessing: failed attempts are counted by account and by address, for all controllers together, and also for
 * accounts that do not exist. OWASP ASVS 5.0 6.3.1. A device from which the user has signed in before has its own count.
 */
import type { Knex } from 'knex';
import { networkOf } from '../../../platform/net/address-network.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { DomainError } from '../../../platform/operation/errors.ts';
import { clearAttempts, countAttempt, type Throttle, uncountAttempt } from './throttle-store.ts';

const MINUTE_MS = 60_000;
const BLOCK_MS = 15 * MINUTE_MS;
/** Failures in a row, however slow. They are forgotten a day after the last. */
const ACCOUNT_LIMIT = { limit: 10, windowMs: 24 * 60 * MINUTE_MS, slides: true, blockMs: BLOCK_MS };
/** Higher, because a whole office may share one address. */
const ADDRESS_LIMIT = { limit: 100, windowMs: 15 * MINUTE_MS, slides: false, blockMs: BLOCK_MS };

/** What failures are counted for, beside the address. */
export interface Counter {
  key: string;
  /** Completes the message "Too many failed sign-ins …". */
  where: string;
}

/** Shared by all unknown devices, whether the account exists or not. */
export const accountCounter = (email: string): Counter => ({
  key: `account:${email.toLowerCase()}`,
  where: 'to this account',
});
/** For a device from which the user has signed in before: guesses of others do not lock the user out there. */
export const deviceCounter = (userId: string, deviceId: string): Counter => ({
  key: `device:${userId}:${deviceId}`,
  where: 'from this device',
});
/** For a signed-in user who confirms their password or code. */
export const sessionCounter = (sessionId: string): Counter => ({
  key: `session:${sessionId}`,
  where: 'in this session',
});

/** After an administrator has reset an account, earlier guesses no longer block it. */
export const forgetFailures = (db: Knex, email: string): Promise<void> =>
  clearAttempts(db, accountCounter(email).key);

export interface Attempt {
  /** The user is authenticated: the count of the account starts at zero again, the count of the address does not. */
  succeeded(db: Knex): Promise<void>;
  /** The attempt did not fail or was not evaluated: it is not counted. */
  takeBack(db: Knex): Promise<void>;
}

/**
 * Counts an attempt before it is evaluated, so that concurrent attempts are counted one by one. Without `succeeded` or
 * `takeBack` it stays counted as a failure.
 * @throws TOO_MANY_REQUESTS with the seconds to wait.
 */
export async function beginAttempt(
  ctx: Pick<Context, 'db' | 'clock' | 'ipAddress'>,
  { key, where }: Counter,
): Promise<Attempt> {
  const address = ctx.ipAddress === null ? null : `address:${networkOf(ctx.ipAddress)}`;
  if (address !== null) await count(ctx, { key: address, ...ADDRESS_LIMIT }, 'from this address');
  const takeBackAddress = async (db: Knex) => {
    if (address !== null) await uncountAttempt(db, address);
  };
  try {
    await count(ctx, { key, ...ACCOUNT_LIMIT }, where);
  } catch (error) {
    // The attempt was not evaluated.
    await takeBackAddress(ctx.db);
    throw error;
  }
  return {
    async succeeded(db) {
      await clearAttempts(db, key);
      await takeBackAddress(db);
    },
    async takeBack(db) {
      await uncountAttempt(db, key);
      await takeBackAddress(db);
    },
  };
}

async function count(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  throttle: Throttle,
  where: string,
): Promise<void> {
  const now = clock.now();
  const until = await countAttempt(db, throttle, now);
  if (until === null) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((until.getTime() - now) / 1_000));
  const minutes = Math.ceil(retryAfterSeconds / 60);
  throw new DomainError(
    'TOO_MANY_REQUESTS',
    `Too many failed sign-ins ${where}. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}`,
    { retryAfterSeconds },
  );
}
