/**
 * When a provider changes a user's issuer or subject, a super admin unlinks the account, and the next sign-in with its verified
 * address is linked to it. This works once and for a limited time, because addresses are reassigned. No I/O.
 */
import type { User } from '../../access/index.ts';
import { isOwnerControlled } from './link-decision.ts';

const RELINK_DAYS = 90;

export const mayBeRelinked = (user: User, now: number): boolean =>
  !isOwnerControlled(user) &&
  user.relinkAllowedAt !== null &&
  user.relinkAllowedAt.getTime() > now - RELINK_DAYS * 86_400_000;
