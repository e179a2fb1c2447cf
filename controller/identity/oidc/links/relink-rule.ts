/**
 * A provider that calls somebody otherwise than before (another issuer or subject) is no dead end: a super admin unlinks the
 * account, and the next sign-in with its verified address is joined to it. Once, and not for ever: addresses are given to
 * others. No I/O.
 */
import type { User } from '../../access/index.ts';
import { isItsOwners } from './link-decision.ts';

const DAYS = 90;

export const mayBeRelinked = (user: User, now: number): boolean =>
  !isItsOwners(user) &&
  user.relinkAllowedAt !== null &&
  user.relinkAllowedAt.getTime() > now - DAYS * 86_400_000;
