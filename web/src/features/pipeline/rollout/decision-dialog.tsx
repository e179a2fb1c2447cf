import { useMutation } from '@tanstack/react-query';
import type { Rollout } from '../../../../../schemas/api/delivery/rollouts.ts';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../../api/client.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { sentence } from '../../../ui/text/format.ts';
import { confirmation, useRenewPipelines } from '../../pipelines/actions/pipeline-actions.ts';
import { broadenTouches, rollbackTouches } from './rollout-text.ts';

export type Decision = 'broaden' | 'rollback';

interface Props {
  decision: Decision;
  pipeline: Pipeline;
  rollout: Rollout;
  close: () => void;
}

/** The two ways in which a person ends a rollout, with what each does to engines. */
export const DecisionDialog = ({ decision, pipeline, rollout, close }: Props) => {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const { id: rolloutId, canaryVersion, previousVersion, verdict } = rollout;
  const broadens = decision === 'broaden';
  const decide = useMutation({
    mutationFn: () =>
      broadens
        ? api.stagedRollout.broaden.mutate({ rolloutId })
        : api.stagedRollout.rollback.mutate({ rolloutId }),
    onSuccess: async () => {
      notify(
        broadens
          ? `Version ${canaryVersion} goes to all nodes.`
          : `Version ${canaryVersion} is taken back; nodes follow at their next poll.`,
      );
      close();
      await renew();
    },
  });
  return (
    <Dialog
      title={
        broadens ? `Broaden version ${canaryVersion} to all nodes` : `Roll version ${canaryVersion} back`
      }
      opened
      close={close}
    >
      <MutationForm
        mutation={decide}
        close={close}
        submit={broadens ? 'Broaden to all nodes' : backWord(previousVersion)}
        working={broadens ? 'Broadening…' : 'Rolling back…'}
        danger={!broadens}
        cancel={broadens ? 'Keep watching' : 'Keep it'}
        confirm={confirmation(environment, [pipeline])}
        confirmField={{ mono: true }}
      >
        <p>{broadens ? broadenTouches(rollout) : rollbackTouches(rollout)}</p>
        {broadens && verdict && verdict.verdict !== 'healthy' && (
          <Notice icon="warning" tone={verdict.verdict === 'unhealthy' ? 'failed' : 'held'}>
            {sentence(verdict.message)}
          </Notice>
        )}
        {!broadens && pipeline.managedBy === 'git' && (
          <Notice icon="held" tone="held">
            Git describes it: the version that git has now is held and not applied again, and a change that
            takes it back is proposed. A newer commit that changes it is taken.
          </Notice>
        )}
      </MutationForm>
    </Dialog>
  );
};

const backWord = (previous: number | null): string =>
  previous === null ? 'Take it back' : `Roll back to version ${previous}`;
