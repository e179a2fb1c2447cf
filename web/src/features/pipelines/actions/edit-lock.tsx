/** Why a pipeline cannot be changed here, for the current user. */
import { Link } from 'react-router';
import type { GitOrigin, Role } from '../../../../../schemas/api/common.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { BECOMES, useUiEdits } from '../../ownership/git-edits.tsx';
import { whyFixed } from './fixed-reason.ts';

/** Null where it may be changed by the current user, by the policy of the environment. */
export function useFixed(managedBy: 'ui' | 'git'): string | null {
  const { team } = usePlace();
  return whyFixed(team.role, managedBy, useUiEdits(managedBy === 'git'));
}

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
