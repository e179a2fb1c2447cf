import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Promotion } from '../../../../schemas/api/delivery/promotions.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { isProduction } from '../../app/scope.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { TextAreaField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { Changes } from '../pipeline/promote/promote-diff.tsx';
import { usePromotionMutation } from './promotion-mutations.ts';

interface Props {
  promotion: Promotion;
  close: () => void;
}

const versionOf = ({ sourceVersion }: Promotion): string =>
  sourceVersion === null ? '' : `, version ${sourceVersion},`;

/** What ships is what was saved when it was asked for: the approval is bound to what is shown. */
export const ApproveDialog = ({ promotion, close }: Props) => {
  const { id, pipelineName, targetName, targetPipelineId, targetEnvironmentName: target } = promotion;
  // Once it is decided there is nothing to ask for any more.
  const [isDecided, setDecided] = useState(false);
  const content = useQuery({ ...queries.promotionContent(id), staleTime: 0, enabled: !isDecided });
  const digest = content.data?.digest;
  const approve = usePromotionMutation({
    run: async () => {
      await api.promotion.approve.mutate({ requestId: id, ...(digest ? { digest } : {}) });
      setDecided(true);
    },
    done: () => `${targetName} is deployed in ${target}.`,
    after: close,
  });
  return (
    <Dialog title={`Approve ${pipelineName} for ${target}`} opened close={close} size="xl">
      <MutationForm
        mutation={approve}
        close={close}
        submit="Approve and deploy it"
        working="Deploying…"
        disabled={content.isPending}
        confirm={isProduction({ name: target }) ? target : null}
      >
        <p>
          {pipelineName}
          {versionOf(promotion)} as it was in {promotion.sourceEnvironmentName} when {promotion.requestedBy}{' '}
          asked{' '}
          {targetPipelineId
            ? `replaces what ${targetName} runs in ${target}: its engines restart on every node that runs it.`
            : `becomes ${targetName} in ${target}, and starts on every node that its selector matches.`}
        </p>
        <p className="muted">
          Its secrets, certificates and selector are those of {target}. If it cannot be deployed, the request
          stays and says why.
        </p>
        <Loaded
          query={content}
          what={`What changes in ${target}`}
          skeleton={<SkeletonBlock height={240} label="Comparing with what is there" />}
        >
          {({ change }) => <Changes changed={change} waiting={undefined} />}
        </Loaded>
      </MutationForm>
    </Dialog>
  );
};

const MAX_NOTE = 2_000;

export const RejectDialog = ({ promotion, close }: Props) => {
  const { id, pipelineName, targetEnvironmentName: target, requestedBy } = promotion;
  const [note, setNote] = useState('');
  const reject = usePromotionMutation({
    run: () => api.promotion.reject.mutate({ requestId: id, ...(note.trim() ? { note: note.trim() } : {}) }),
    done: () => `${pipelineName} is not promoted to ${target}.`,
    after: close,
  });
  return (
    <Dialog title={`Reject ${pipelineName} for ${target}`} opened close={close}>
      <MutationForm
        mutation={reject}
        close={close}
        submit="Reject it"
        working="Rejecting…"
        danger
        cancel="Back"
      >
        <p>
          Nothing changes in {target}. {requestedBy} reads why, and may ask again.
        </p>
        <TextAreaField label="Why" value={note} onChange={setNote} maxLength={MAX_NOTE} autoFocus />
      </MutationForm>
    </Dialog>
  );
};

export const CancelDialog = ({ promotion, close }: Props) => {
  const { id, pipelineName, targetEnvironmentName: target, pullRequest } = promotion;
  const cancel = usePromotionMutation({
    run: () => api.promotion.cancel.mutate({ requestId: id }),
    done: () => `The promotion of ${pipelineName} to ${target} is cancelled.`,
    after: close,
  });
  return (
    <Dialog title={`Cancel the promotion of ${pipelineName}`} opened close={close} size="sm">
      <MutationForm
        mutation={cancel}
        close={close}
        submit="Cancel the promotion"
        working="Cancelling…"
        danger
      >
        <p>
          Nothing changes in {target}.
          {pullRequest?.state === 'open' &&
            ` Pull request #${pullRequest.number} is closed; its branch stays.`}
        </p>
      </MutationForm>
    </Dialog>
  );
};
