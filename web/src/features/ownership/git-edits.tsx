/** Explains what an edit of an object in git becomes: before the edit, and as its result. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from 'react-router';
import type { GitOrigin } from '../../../../schemas/api/common.ts';
import type { GitPolicy, OwnableKind } from '../../../../schemas/api/delivery/git-policy.ts';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { becameOf } from '../../../../schemas/api/delivery/git-words.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { shortCommit } from '../../ui/text/format.ts';

export type UiEdits = GitPolicy['uiEdits'];

/** What is not applied from git would not follow what is written there. */
const editsOf = ({ mode, policy }: GitSyncStatus): UiEdits =>
  mode === 'sync' ? (policy?.effective.uiEdits ?? 'refuse') : 'refuse';

/** By the policy of the page's environment; `refuse` until it is known. Asks for nothing where git describes nothing. */
export function useUiEdits(describedInGit = true): UiEdits {
  const { environment } = usePlace();
  const edits = useQuery({ ...queries.git(environment.id), enabled: describedInGit, select: editsOf });
  return edits.data ?? 'refuse';
}

/** How a sentence about a change goes on. */
export const BECOMES: Record<UiEdits, string> = {
  refuse: 'is refused: change it there and push',
  propose: 'becomes a pull request: nothing changes here before it is merged',
  commit: 'becomes a commit in your name, and comes back from git',
};

/** Tells what became of a change that went to git; false for an answer that is about the object itself. */
export function useBecameGit(): (output: unknown) => boolean {
  const { environment } = usePlace();
  const navigate = useNavigate();
  return (output) => {
    const became = becameOf(output);
    if (became === null) return false;
    if ('proposed' in became) {
      const { number } = became.proposed;
      const to = paths.pullRequest(environment.id, number);
      notify(`Proposed as pull request #${number}: nothing changes here before it is merged.`, {
        word: 'Look at it',
        run: () => void navigate(to),
      });
    } else {
      const { sha, path, line } = became.committed;
      const to = paths.git(environment.id, { tab: 'passes', commit: shortCommit(sha) });
      notify(`Committed as ${shortCommit(sha)} to ${path}:${line}; it comes back from git.`, {
        word: 'Look at it',
        run: () => void navigate(to),
      });
    }
    return true;
  };
}

/** In the form of a change; nothing where the UI owns the object. */
export const BecomesNotice = ({ git, what = 'What you save' }: { git: GitOrigin | null; what?: string }) => {
  const edits = useUiEdits(git !== null);
  if (!git) return null;
  return (
    <Notice icon="git" tone="moving">
      Described in git at{' '}
      <span className="mono">
        {git.path}:{git.line}
      </span>
      . {what} {BECOMES[edits]}.
    </Notice>
  );
};

/** In the form that makes an object: whose it will be. Nothing where git describes none of the kind here. */
export const MadeHereNotice = ({ kind, many }: { kind: OwnableKind; many: string }) => {
  const { environment } = usePlace();
  const inGit = useQuery({
    ...queries.git(environment.id),
    enabled: environment.gitMode === 'sync',
    select: ({ mode, policy }) => mode === 'sync' && policy?.effective.owns.includes(kind),
  });
  if (!inGit.data) return null;
  return (
    <p className="muted">
      {many} of {environment.name} are described in <Link to={paths.git(environment.id)}>git</Link>. This one
      will belong to the UI, and git leaves it alone, until you export and commit it.
    </p>
  );
};
