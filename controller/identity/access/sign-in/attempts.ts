/**
 * Guessing is slow: attempts that fail are counted by account and by address, for all controllers together, and for accounts
 * that do not exist too. OWASP ASVS 5.0 6.3.1. A device that its user has signed in with before has a count of its own.
 */
import type { Knex } from 'knex';
import { networkOf } from '../../../platform/net/address-network.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { DomainError } from '../../../platform/operation/errors.ts';
import { clearAttempts, giveBackAttempt, type Throttle, takeAttempt } from './throttle-store.ts';

const MINUTE_MS = 60_000;
const BLOCK_MS = 15 * MINUTE_MS;
/** Failures in a row, however slowly they come: they are forgotten a day after the last. */
const OF_ACCOUNT = { limit: 10, windowMs: 24 * 60 * MINUTE_MS, slides: true, blockMs: BLOCK_MS };
/** A whole office may come from one address. */
const OF_ADDRESS = { limit: 100, windowMs: 15 * MINUTE_MS, slides: false, blockMs: BLOCK_MS };

/** What failures in a row are counted for, beside the address. */
export interface Counter {
  key: string;
  /** For the message. */
  where: string;
}

/** For everybody who was not seen before: they share one count, whether the account exists or not. */
export const ofAccount = (email: string): Counter => ({
  key: `account:${email.toLowerCase()}`,
  where: 'to this account',
});
/** For a device that the user has signed in with before: strangers' guesses do not close the account to it. */
export const ofDevice = (userId: string, deviceId: string): Counter => ({
  key: `device:${userId}:${deviceId}`,
  where: 'from this device',
});
/** For a signed-in user who gives a password or a code once more. */
export const ofSession = (sessionId: string): Counter => ({
  key: `session:${sessionId}`,
  where: 'in this session',
});

/** For an account that its operator has just looked after: guesses of others do not keep it closed. */
export const forgetFailures = (db: Knex, email: string): Promise<void> =>
  clearAttempts(db, ofAccount(email).key);

export interface Attempt {
  /** They are who they say they are: this count starts at zero again. The address's does not. */
  succeeded(db: Knex): Promise<void>;
  /** It was no failure, or was not looked at: as if it had not been. */
  takeBack(db: Knex): Promise<void>;
}

/**
 * Counts an attempt before it is looked at, so that many at once are counted one by one. One that is never told to have been
 * anything else stays counted as a failure.
 * @throws TOO_MANY_REQUESTS with the seconds to wait.
 */
export async function beginAttempt(
  ctx: Pick<Context, 'db' | 'clock' | 'ipAddress'>,
  { key, where }: Counter,
): Promise<Attempt> {
  const address = ctx.ipAddress === null ? null : `address:${networkOf(ctx.ipAddress)}`;
  if (address !== null) await take(ctx, { key: address, ...OF_ADDRESS }, 'from this address');
  const takeBackAddress = async (db: Knex) => {
    if (address !== null) await giveBackAttempt(db, address);
  };
  try {
    await take(ctx, { key, ...OF_ACCOUNT }, where);
  } catch (error) {
    // Nothing was guessed at.
    await takeBackAddress(ctx.db);
    throw error;
  }
  return {
    async succeeded(db) {
      await clearAttempts(db, key);
      await takeBackAddress(db);
    },
    async takeBack(db) {
      await giveBackAttempt(db, key);
      await takeBackAddress(db);
    },
  };
}

async function take(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  throttle: Throttle,
  where: string,
): Promise<void> {
  const now = clock.now();
  const until = await takeAttempt(db, throttle, now);
  if (until === null) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((until.getTime() - now) / 1_000));
  const minutes = Math.ceil(retryAfterSeconds / 60);
  throw new DomainError(
    'TOO_MANY_REQUESTS',
    `Too many failed sign-ins ${where}. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}`,
    { retryAfterSeconds },
  );
}
