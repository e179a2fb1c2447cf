import { useRef } from 'react';
import { api } from '../../../api/client.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useBecameGit } from '../../ownership/git-edits.tsx';
import { EndsRollout } from '../../pipeline/rollout/superseded-rollout.tsx';
import { ActionForm, GitChange, LeftOut } from './action-form.tsx';
import { Processes } from './affected-processes.tsx';
import { Dependents } from './dependents.tsx';
import { confirmation, nameAll, useRenewPipelines } from './pipeline-actions.ts';
import type { FormProps } from './pipeline-dialogs.tsx';

export const UndeployForm = ({ pipelines, leftOut, close }: FormProps) => {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const became = useBecameGit();
  const wentToGit = useRef(false);
  const deployed = pipelines.filter(({ isDraft }) => !isDraft);
  return (
    <ActionForm
      env={environment.id}
      pipelines={deployed}
      run={async ({ id }) => {
        wentToGit.current = became(await api.deploy.undeploy.mutate({ pipelineId: id }));
      }}
      done={async (through) => {
        await renew();
        if (wentToGit.current) {
          close();
          return;
        }
        notify(
          `${nameAll(through)} ${through.length === 1 ? 'is a draft' : 'are drafts'} again; nodes stop ${through.length === 1 ? 'it' : 'them'} at their next poll.`,
        );
        close();
      }}
      close={close}
      words={{ act: `Undeploy ${nameAll(deployed)}`, acting: 'Undeploying…' }}
      danger
      confirm={confirmation(environment, deployed)}
    >
      <p>
        This stops <Processes env={environment.id} pipelines={deployed} />. The graph and all versions stay;
        deploy again at any time.
      </p>
      {deployed.length < pipelines.length && (
        <p className="muted">
          {plural(pipelines.length - deployed.length, 'draft is', 'drafts are')} left out.
        </p>
      )}
      <LeftOut pipelines={leftOut} />
      <GitChange pipelines={deployed} what="Stopping it" />
      {deployed.length === 1 && deployed[0] && <EndsRollout pipelineId={deployed[0].id} what="Undeploying" />}
      <Dependents ids={deployed.map(({ id }) => id)} />
    </ActionForm>
  );
};
