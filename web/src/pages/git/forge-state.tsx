import { useMutation } from '@tanstack/react-query';
import type { BoundForge, GitSyncStatus } from '../../../../schemas/api/git-sync.ts';
import { api } from '../../api/client.ts';
import { Badge, Time } from '../../components/bits.tsx';
import { sentence } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { InlineError } from '../../components/states.tsx';
import { useRenewGit } from './word-actions.ts';

interface Props {
  status: GitSyncStatus;
  forge: BoundForge;
  mayEdit: boolean;
}

/** Whether it does what it is asked: as it was last seen, and asked now. */
export const ForgeState = ({ status, forge, mayEdit }: Props) => {
  const renew = useRenewGit();
  const test = useMutation({
    mutationFn: () => api.gitSync.checkForge.mutate({ environmentId: status.environmentId }),
    onSuccess: renew,
  });
  const answer = test.data;
  return (
    <div className="section-body stack forge-state">
      {forge.error && !answer && (
        <p className="notice" data-tone="failed" role="status">
          <Icon name="warning" size={14} />
          <span>
            {sentence(forge.error.message)} <Time at={forge.error.at} />
          </span>
        </p>
      )}
      <div className="tab-head">
        <p className="muted">
          A test asks the forge for the project, and whether the token may do what is needed. It changes
          nothing there.
        </p>
        <button
          type="button"
          className="button"
          disabled={!mayEdit || test.isPending}
          onClick={() => test.mutate()}
        >
          <Icon name="sync" size={14} /> {test.isPending ? 'Asking…' : 'Test the forge'}
        </button>
      </div>
      {answer && (
        <p className="watch-line" role="status">
          <Badge tone={answer.ok ? 'ok' : 'failed'}>{answer.ok ? 'It answers' : 'It does not work'}</Badge>{' '}
          <span>{sentence(answer.message)}</span>
        </p>
      )}
      {test.isError && <InlineError error={test.error} />}
    </div>
  );
};
