/**
 * Whether somebody rests: their identity provider has not confirmed them for some days, or refuses to. Group roles of theirs
 * do not count then; of an account that only the provider opens, sessions and personal tokens do not either. The next
 * sign-in wakes all of it. Whom SCIM keeps as active its provider vouches for all the time. No I/O.
 */
import type { AccessPolicy } from '../access-policy.ts';

export interface Confirmation {
  hasPassword: boolean;
  /** Active to SCIM, and not deleted by it. */
  keptByScim: boolean;
  /** How many accounts at identity providers are linked. */
  links: number;
  /** By a provider, at the last sign-in or refresh; null where none confirms any more. */
  confirmedAt: Date | null;
  /** When the last of them refused, or a super admin took the last link away. Null for an account that was never linked. */
  endedAt: Date | null;
}

const DAY_MS = 86_400_000;

/** Null where nothing of this person hangs on a sign-in at a provider. */
export function restsAt(
  of: Confirmation,
  { confirmationDays }: Pick<AccessPolicy, 'confirmationDays'>,
): Date | null {
  if (of.keptByScim || (of.hasPassword && of.links === 0)) return null;
  if (of.confirmedAt) return new Date(of.confirmedAt.getTime() + confirmationDays * DAY_MS);
  return of.endedAt;
}

/** `account`: nobody comes in by what was made before; `roles`: those of groups do not count. */
export function restOf(
  of: Confirmation,
  policy: Pick<AccessPolicy, 'confirmationDays'>,
  now: Date,
): 'account' | 'roles' | null {
  const at = restsAt(of, policy);
  if (at === null || at > now) return null;
  return of.hasPassword ? 'roles' : 'account';
}
