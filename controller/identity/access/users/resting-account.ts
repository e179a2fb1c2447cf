/**
 * Decides whether an account rests: its identity provider has not confirmed it for some days, or refuses to. Then its group roles
 * do not count; where the account has no other way to sign in, its sessions and personal tokens do not count either. The next
 * sign-in reactivates all of it. A user who is active in SCIM counts as confirmed. No I/O.
 */
import type { AccessPolicy } from '../access-policy.ts';

export interface Confirmation {
  hasPassword: boolean;
  /** Active in SCIM and not deleted by it. */
  managedByScim: boolean;
  /** Number of linked accounts at identity providers. */
  links: number;
  /** The last confirmation by a provider, at a sign-in or refresh; null where no provider confirms the account any more. */
  confirmedAt: Date | null;
  /** When the last provider refused, or a super admin removed the last link. Null for an account that was never linked. */
  endedAt: Date | null;
}

const DAY_MS = 86_400_000;

/** The time from which the account rests; null where it does not depend on a provider. */
export function restsAt(
  confirmation: Confirmation,
  { confirmationDays }: Pick<AccessPolicy, 'confirmationDays'>,
): Date | null {
  if (confirmation.managedByScim || (confirmation.hasPassword && confirmation.links === 0)) return null;
  if (confirmation.confirmedAt)
    return new Date(confirmation.confirmedAt.getTime() + confirmationDays * DAY_MS);
  return confirmation.endedAt;
}

/** `account`: existing sessions and tokens do not work; `roles`: roles of groups do not count. */
export function restOf(
  confirmation: Confirmation,
  policy: Pick<AccessPolicy, 'confirmationDays'>,
  now: Date,
): 'account' | 'roles' | null {
  const at = restsAt(confirmation, policy);
  if (at === null || at > now) return null;
  return confirmation.hasPassword ? 'roles' : 'account';
}
