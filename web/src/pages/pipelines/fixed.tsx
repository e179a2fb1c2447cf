/** Why a pipeline cannot be changed here, in the words that its pages share. */
import { Link } from 'react-router';
import type { GitOrigin, Role } from '../../../../schemas/api/common.ts';
import { paths } from '../../app/paths.ts';
import { Icon } from '../../components/icons.tsx';

export const VIEWER_REASON =
  'Your role here is VIEWER. Changes need EDITOR: ask an administrator of the team.';
export const GIT_REASON = 'It is described in git: change its manifest and push.';

/** Null where it may be changed. */
export function whyFixed(role: Role, managedBy: 'ui' | 'git'): string | null {
  if (managedBy === 'git') return GIT_REASON;
  return role === 'VIEWER' ? VIEWER_REASON : null;
}

interface Props {
  env: string;
  role: Role;
  pipeline: { managedBy: 'ui' | 'git'; git: GitOrigin | null };
}

/** Says why, with a link to the line; nothing where it may be changed. */
export const FixedNotice = ({ env, role, pipeline: { managedBy, git } }: Props) => {
  const reason = whyFixed(role, managedBy);
  if (reason === null) return null;
  return (
    <p className="notice" data-tone="moving">
      <Icon name={managedBy === 'git' ? 'git' : 'shield'} size={14} />
      <span>
        {managedBy === 'git' ? 'This pipeline is described in git' : reason}
        {git && (
          <>
            {' at '}
            <Link to={paths.git(env, { focus: git.path })} className="mono notice-link">
              {git.path}:{git.line}
            </Link>
          </>
        )}
        {managedBy === 'git' && ': change it there and push, and it follows.'}
      </span>
    </p>
  );
};
