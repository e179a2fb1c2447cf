/** How long keys of service accounts have to live, in words. */
import type { ServiceAccount } from '../../../../../schemas/api/identity/service-accounts.ts';
import { plural } from '../../../ui/text/format.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Time enough to give a program another key. */
export const SOON_MS = 14 * DAY_MS;

type Key = Pick<ServiceAccount, 'expiresAt' | 'revokedAt'>;

export const isExpired = ({ expiresAt }: Key, now: number): boolean =>
  expiresAt !== null && expiresAt.getTime() <= now;

function span(ms: number): string {
  if (ms >= DAY_MS) return plural(Math.round(ms / DAY_MS), 'day');
  if (ms >= HOUR_MS) return plural(Math.round(ms / HOUR_MS), 'hour');
  return 'less than an hour';
}

/** `ends in 12 days`, `expired 3 hours ago`. */
export function expiryText(expiresAt: Date, now: number): string {
  const left = expiresAt.getTime() - now;
  return left > 0 ? `ends in ${span(left)}` : `expired ${span(-left)} ago`;
}

/** Those that work come first, then those that have expired, then those that were revoked. */
export function expiryRank(account: Key, now: number): number {
  if (account.revokedAt) return 2;
  return isExpired(account, now) ? 1 : 0;
}
