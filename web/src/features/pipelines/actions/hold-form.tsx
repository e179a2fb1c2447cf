import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../../api/client.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { Field } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { EndsRollout } from '../../pipeline/rollout/superseded-rollout.tsx';
import { Processes } from './affected-processes.tsx';
import { Dependents } from './dependents.tsx';
import { confirmation, useRenewPipelines } from './pipeline-actions.ts';

interface Props {
  pipeline: PipelineSummary;
  close: () => void;
}

/** For emergencies: what git describes stops now, and what git has now is not applied again. */
export const HoldForm = ({ pipeline, close }: Props) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const renew = useRenewPipelines();
  const [reason, setReason] = useState('');
  const stop = useMutation({
    mutationFn: () =>
      api.deploy.undeploy.mutate({
        pipelineId: pipeline.id,
        hold: true,
        ...(reason.trim() ? { reason: reason.trim() } : {}),
      }),
    onSuccess: async () => {
      await Promise.all([
        renew(),
        queryClient.invalidateQueries({ queryKey: ['gitSync.holds', environment.id] }),
      ]);
      notify(`${pipeline.name} stops at the nodes’ next poll, and git’s version is held.`);
      close();
    },
  });
  return (
    <MutationForm
      mutation={stop}
      close={close}
      submit={`Undeploy ${pipeline.name} and hold it`}
      working="Stopping…"
      danger
      confirm={confirmation(environment, [pipeline])}
      confirmField={{ mono: true, autoFocus: false }}
    >
      <p>
        This stops <Processes env={environment.id} pipelines={[pipeline]} /> at once, past git. What git says
        of it now is held and not applied again; a newer commit that changes it is taken.
      </p>
      <p className="muted">Release it under “Holds & pauses” on the page Git.</p>
      <EndsRollout pipelineId={pipeline.id} what="This" />
      <Dependents ids={[pipeline.id]} />
      <Field
        label="Why"
        value={reason}
        onChange={setReason}
        maxLength={500}
        placeholder="INC-42: it floods the index"
        hint="Shown wherever it stands, and kept in the audit log."
      />
    </MutationForm>
  );
};
