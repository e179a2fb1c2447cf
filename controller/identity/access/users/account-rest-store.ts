import { ACCESS_SETTING, type AccessPolicy } from '../access-policy.ts';
import type { Confirmation } from './resting-account.ts';

/** Whether only break-glass accounts may use passwords: where a super admin has set it, and while a provider exists. */
const ONLY_BY_PROVIDER = `(COALESCE((SELECT (value->>'onlyByProvider')::boolean FROM settings WHERE key = '${ACCESS_SETTING}'), false)
  AND EXISTS (SELECT 1 FROM oidc_settings))`;

/** Whether the user in the row `u` may sign in by password, without regard to its expiry. */
export const PASSWORD_ALLOWED = `(u.password_hash IS NOT NULL AND ((u.is_break_glass AND u.is_super_admin) OR NOT ${ONLY_BY_PROVIDER}))`;

/** The input of `restsAt` for the user in the row `u`. */
export const CONFIRMATION = `(SELECT jsonb_build_object(
    'hasPassword', u.password_hash IS NOT NULL,
    'isBreakGlass', u.is_break_glass AND u.is_super_admin,
    'hasProvider', EXISTS (SELECT 1 FROM oidc_settings),
    'managedByScim', EXISTS (SELECT 1 FROM scim_users s WHERE s.user_id = u.id AND s.deleted_at IS NULL AND s.active),
    'links', count(i.user_id),
    'confirmedAt', max(i.confirmed_at) FILTER (WHERE i.withdrawn_at IS NULL),
    -- A user whose password is not allowed and who was never linked cannot sign in.
    'endedAt', COALESCE(max(i.withdrawn_at), u.relink_allowed_at,
      CASE WHEN u.password_hash IS NOT NULL THEN u.created_at END))
  FROM user_identities i WHERE i.user_id = u.id)`;

export const STORED_POLICY = `(SELECT value FROM settings WHERE key = '${ACCESS_SETTING}')`;

export type StoredConfirmation = Omit<Confirmation, 'confirmedAt' | 'endedAt'> & {
  isBreakGlass: boolean;
  /** Whether there is any identity provider. */
  hasProvider: boolean;
  confirmedAt: string | null;
  endedAt: string | null;
};

/** `PASSWORD_ALLOWED` in TypeScript, because every request of a session evaluates it from data that is already read. */
const isPasswordAllowed = (
  { hasPassword, isBreakGlass, hasProvider }: StoredConfirmation,
  policy: AccessPolicy,
): boolean => hasPassword && (isBreakGlass || !(policy.onlyByProvider && hasProvider));

export const confirmationOf = (stored: StoredConfirmation, policy: AccessPolicy): Confirmation => ({
  ...{
    managedByScim: stored.managedByScim,
    links: stored.links,
    hasPassword: isPasswordAllowed(stored, policy),
  },
  confirmedAt: stored.confirmedAt === null ? null : new Date(stored.confirmedAt),
  endedAt: stored.endedAt === null ? null : new Date(stored.endedAt),
});
