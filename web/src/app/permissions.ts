import type { Role } from '../../../schemas/api/common.ts';
import { VIEWER_REASON } from '../features/pipelines/actions/fixed-reason.ts';

export const ADMIN_REASON = 'Your role here is EDITOR. This needs ADMIN: ask an administrator of the team.';

/** Null where somebody of that role may do what needs the other. */
export function whyNot(role: Role, needs: 'EDITOR' | 'ADMIN'): string | null {
  if (role === 'VIEWER') return needs === 'ADMIN' ? VIEWER_REASON.replace('EDITOR', 'ADMIN') : VIEWER_REASON;
  return needs === 'ADMIN' && role === 'EDITOR' ? ADMIN_REASON : null;
}
