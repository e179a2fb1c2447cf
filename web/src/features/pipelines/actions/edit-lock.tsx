/** Why a pipeline cannot be changed here, in the words that its pages share. */
import { Link } from 'react-router';
import type { GitOrigin, Role } from '../../../../../schemas/api/common.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { BECOMES, type UiEdits, useUiEdits } from '../../ownership/git-edits.tsx';

export const VIEWER_REASON =
  'Your role here is VIEWER. Changes need EDITOR: ask an administrator of the team.';
export const GIT_REASON = 'It is described in git: change its manifest and push.';

/** Null where it may be changed: here, or in git through a change that is made here. */
export function whyFixed(role: Role, managedBy: 'ui' | 'git', edits: UiEdits = 'refuse'): string | null {
  if (managedBy === 'git' && edits === 'refuse') return GIT_REASON;
  return role === 'VIEWER' ? VIEWER_REASON : null;
}

/** The same for the current user, by the policy of the environment. */
export function useFixed(managedBy: 'ui' | 'git'): string | null {
  const { team } = usePlace();
  return whyFixed(team.role, managedBy, useUiEdits(managedBy === 'git'));
}

/** Git itself says whether something runs: only what it keeps as a draft is deployed by a change of its manifest. */
export const deployFixed = (
  fixed: string | null,
  { managedBy, isDraft }: { managedBy: 'ui' | 'git'; isDraft: boolean },
): string | null =>
  fixed ?? (managedBy === 'git' && !isDraft ? 'It follows git: what is committed is deployed.' : null);

interface Props {
  env: string;
  role: Role;
  pipeline: { managedBy: 'ui' | 'git'; git: GitOrigin | null };
}

/** Says why, or what a change becomes, with a link to the line; nothing where it is simply made. */
export const FixedNotice = ({ env, role, pipeline: { managedBy, git } }: Props) => {
  const edits = useUiEdits(managedBy === 'git');
  const reason = whyFixed(role, managedBy, edits);
  if (reason === null && managedBy === 'ui') return null;
  const end =
    edits === 'refuse'
      ? ': change it there and push, and it follows.'
      : reason === null
        ? `. What you change here ${BECOMES[edits]}.`
        : `. ${reason}`;
  return (
    <Notice icon={managedBy === 'git' ? 'git' : 'shield'} tone="moving">
      {managedBy === 'git' ? 'This pipeline is described in git' : reason}
      {git && (
        <>
          {' at '}
          <Link to={paths.git(env, { focus: git.path })} className="mono notice-link">
            {git.path}:{git.line}
          </Link>
        </>
      )}
      {managedBy === 'git' && end}
    </Notice>
  );
};
