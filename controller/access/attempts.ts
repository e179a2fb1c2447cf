/**
 * Guessing is slow: attempts that fail are counted by account and by address, for all controllers together, and for accounts
 * that do not exist too. OWASP ASVS 5.0 6.3.1.
 */
import { isIPv6 } from 'node:net';
import type { Knex } from 'knex';
import type { Context } from '../platform/context.ts';
import { DomainError } from '../platform/errors.ts';
import { clearAttempts, giveBackAttempt, type Throttle, takeAttempt } from './throttle-store.ts';

const MINUTE_MS = 60_000;
const BLOCK_MS = 15 * MINUTE_MS;
/** Failures in a row, however slowly they come: they are forgotten a day after the last. */
const OF_ACCOUNT = { limit: 10, windowMs: 24 * 60 * MINUTE_MS, slides: true, blockMs: BLOCK_MS };
/** A whole office may come from one address. */
const OF_ADDRESS = { limit: 100, windowMs: 15 * MINUTE_MS, slides: false, blockMs: BLOCK_MS };

const keyOf = (email: string): string => `account:${email.toLowerCase()}`;

/** For an account that its operator has just looked after: guesses of others do not keep it closed. */
export const forgetFailures = (db: Knex, email: string): Promise<void> => clearAttempts(db, keyOf(email));

export interface Attempt {
  /** They are who they say they are: the account's count begins anew. The address's does not. */
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
  email: string,
): Promise<Attempt> {
  const account = keyOf(email);
  const address = ctx.ipAddress === null ? null : `address:${networkOf(ctx.ipAddress)}`;
  if (address !== null) await take(ctx, { key: address, ...OF_ADDRESS }, 'from this address');
  const takeBackAddress = async (db: Knex) => {
    if (address !== null) await giveBackAttempt(db, address);
  };
  try {
    await take(ctx, { key: account, ...OF_ACCOUNT }, 'to this account');
  } catch (error) {
    // Nothing was guessed at.
    await takeBackAddress(ctx.db);
    throw error;
  }
  return {
    async succeeded(db) {
      await clearAttempts(db, account);
      await takeBackAddress(db);
    },
    async takeBack(db) {
      await giveBackAttempt(db, account);
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

/** Of IPv6 the first 64 bits: whoever has one address of such a network has them all. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  // An IPv4 address at the end stands for two groups.
  const width = (list: string[]) => list.length + (list.at(-1)?.includes('.') ? 1 : 0);
  const zeros = Array.from({ length: Math.max(0, 8 - width(before) - width(after)) }, () => '0');
  const all = tail === undefined ? before : [...before, ...zeros, ...after];
  const first = all.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${first.join(':')}::/64`;
}
