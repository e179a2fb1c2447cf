import { useMutation } from '@tanstack/react-query';
import type { BoundForge } from '../../../../schemas/api/delivery/forges.ts';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../api/client.ts';
import { Notice } from '../../ui/feedback/notice.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { sentence } from '../../ui/text/format.ts';
import { useRenewGit } from './overrides/override-mutations.ts';

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
        <Notice icon="warning" tone="failed" role="status">
          {sentence(forge.error.message)}
          <Time at={forge.error.at} />
        </Notice>
      )}
      <div className="tab-head">
        <p className="muted">
          A test asks the forge for the project, and whether the token may do what is needed. It changes
          nothing there.
        </p>
        <Button icon="sync" disabled={!mayEdit || test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? 'Asking…' : 'Test the forge'}
        </Button>
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
