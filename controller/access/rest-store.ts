import { ACCESS_SETTING } from './access-policy.ts';
import type { Confirmation } from './rest.ts';

/** What `restsAt` asks, of the user in the row `u`. */
export const CONFIRMATION = `(SELECT jsonb_build_object(
    'hasPassword', u.password_hash IS NOT NULL,
    'keptByScim', EXISTS (SELECT 1 FROM scim_users s WHERE s.user_id = u.id AND s.deleted_at IS NULL AND s.active),
    'links', count(i.user_id),
    'confirmedAt', max(i.confirmed_at) FILTER (WHERE i.withdrawn_at IS NULL),
    'endedAt', COALESCE(max(i.withdrawn_at), u.relink_allowed_at))
  FROM user_identities i WHERE i.user_id = u.id)`;

export const STORED_POLICY = `(SELECT value FROM settings WHERE key = '${ACCESS_SETTING}')`;

export type StoredConfirmation = Omit<Confirmation, 'confirmedAt' | 'endedAt'> & {
  confirmedAt: string | null;
  endedAt: string | null;
};

export const confirmationOf = (stored: StoredConfirmation): Confirmation => ({
  ...stored,
  confirmedAt: stored.confirmedAt === null ? null : new Date(stored.confirmedAt),
  endedAt: stored.endedAt === null ? null : new Date(stored.endedAt),
});
