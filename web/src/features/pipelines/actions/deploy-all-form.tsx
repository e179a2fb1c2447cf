import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { TextAreaField } from '../../../ui/form/field.tsx';
import { ActionForm, LeftOut } from './action-form.tsx';
import { nameAll, useRenewPipelines } from './pipeline-actions.ts';
import type { FormProps } from './pipeline-dialogs.tsx';

/** Several at once, one after the other: each is checked by the server, and one that is refused stops no other. */
export const DeployAllForm = ({ pipelines, leftOut, close }: FormProps) => {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const [changelog, setChangelog] = useState('');
  return (
    <ActionForm
      env={environment.id}
      pipelines={pipelines}
      run={({ id }) => api.deploy.agent.mutate({ pipelineId: id, changelog: changelog.trim() })}
      done={async (through) => {
        await renew();
        notify(`${nameAll(through)} deployed.`);
        close();
      }}
      close={close}
      words={{ act: `Deploy ${nameAll(pipelines)}`, acting: 'Deploying…' }}
    >
      <p>
        Each gets a new version of what is drawn, after its checks. To see what changes first, deploy them one
        by one.
      </p>
      <LeftOut pipelines={leftOut} />
      <TextAreaField label="What changed" value={changelog} onChange={setChangelog} maxLength={2_000} />
    </ActionForm>
  );
};
