/** Why a pipeline cannot be changed here, in the words that its pages share. */
import type { Role } from '../../../../../schemas/api/common.ts';
import type { GitPolicy } from '../../../../../schemas/api/delivery/git-policy.ts';

export const VIEWER_REASON =
  'Your role here is VIEWER. Changes need EDITOR: ask an administrator of the team.';
export const GIT_REASON = 'It is described in git: change its manifest and push.';

/** Null where it may be changed: here, or in git through a change that is made here. */
export function whyFixed(
  role: Role,
  managedBy: 'ui' | 'git',
  edits: GitPolicy['uiEdits'] = 'refuse',
): string | null {
  if (managedBy === 'git' && edits === 'refuse') return GIT_REASON;
  return role === 'VIEWER' ? VIEWER_REASON : null;
}

/** Git itself says whether something runs: only what it keeps as a draft is deployed by a change of its manifest. */
export const deployFixed = (
  fixed: string | null,
  { managedBy, isDraft }: { managedBy: 'ui' | 'git'; isDraft: boolean },
): string | null =>
  fixed ?? (managedBy === 'git' && !isDraft ? 'It follows git: what is committed is deployed.' : null);
